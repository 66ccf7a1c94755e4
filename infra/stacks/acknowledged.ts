import { type CfnElement, Stack } from 'aws-cdk-lib';
import { bucketIn } from '../../lib/config/manifest/access.ts';
import type { Manifest } from '../../lib/config/manifest/manifest.ts';
import { ARCHIVE_FOLDERS, type Crew } from '../constructs/crew.ts';
import type { MeshBuckets } from '../constructs/mesh-buckets.ts';

export interface Acknowledged {
  readonly id: string;
  readonly reason: string;
}

/** Findings of cdk-nag's AwsSolutions pack that are intended, each with the reason. */
export function acknowledgedIn({ archive }: Crew): readonly Acknowledged[] {
  const bucket = Stack.of(archive).getLogicalId(archive.node.defaultChild as CfnElement);
  return [
    {
      id: 'AwsSolutions-S1',
      reason:
        'Only the crew, the gateway and operators access the archive. Use CloudTrail data events if you need access logs.',
    },
    ...ARCHIVE_FOLDERS.map((folder) => ({
      id: `AwsSolutions-IAM5[Resource::<${bucket}.Arn>/${folder}/*]`,
      reason: `Keys in ${folder}/ consist of dates, actor names and envelope ids, which are not known at deployment.`,
    })),
  ];
}

/**
 * Wildcards in the keys of the mesh's own buckets. Other wildcards in `permissions` are the decision of the mesh's
 * author, so they are reported.
 */
export function acknowledgedForBuckets(buckets: MeshBuckets, { actors }: Manifest): readonly Acknowledged[] {
  const resources = actors.flatMap(({ access }) => access?.permissions ?? []).flatMap((one) => one.resources);
  return [...new Set(resources)].flatMap((resource) => {
    const { bucket: name = '', objects = '' } = bucketIn(resource) ?? {};
    const bucket = buckets.all().get(name);
    if (bucket === undefined || !objects.includes('*')) return [];
    const id = Stack.of(bucket).getLogicalId(bucket.node.defaultChild as CfnElement);
    return {
      id: `AwsSolutions-IAM5[Resource::<${id}.Arn>${objects}]`,
      reason: `Handlers choose the keys in the bucket "${name}".`,
    };
  });
}

export const GATEWAY_ACKNOWLEDGED: readonly Acknowledged[] = [
  {
    id: 'AwsSolutions-SMG4',
    reason:
      'People change the keys of callers, and every function of the mesh signs reports. Both secrets take effect with a deployment, so a rotation schedule does not apply.',
  },
];
