import type { MistakeCollector } from '../../core/text/mistake.ts';
import { bucketIn, bucketReference } from './access.ts';
import type { ActorSpec } from './manifest.ts';

/** Warns of permissions that are valid but rarely intended. `notes` is at the actor's `spec`. */
export function addAccessWarnings({ access }: ActorSpec, notes: MistakeCollector): void {
  if (access === undefined) return;
  const { permissions, buckets, localAws } = access;
  for (const [index, { actions }] of permissions.entries()) {
    for (const [at, action] of actions.entries())
      if (action === '*:*')
        notes
          .at('permissions')
          .at(index)
          .at('actions')
          .at(at)
          .add(
            'is "*:*", which allows every action of every service; name the actions that the handler uses',
          );
  }
  const named = new Set(
    permissions.flatMap(({ resources }) => resources.map((resource) => bucketIn(resource)?.bucket)),
  );
  for (const [index, bucket] of buckets.entries())
    if (!named.has(bucket))
      notes
        .at('buckets')
        .at(index)
        .add(
          `is "${bucket}", but no permission of this actor names "${bucketReference(bucket)}", so its handler cannot use the bucket`,
        );
  if (permissions.length === 0 && localAws !== 'profile')
    notes
      .at('local')
      .at('aws')
      .add(`is "${localAws}", but the actor has no permissions, so its handler gets no credentials`);
}
