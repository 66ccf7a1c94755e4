import { isRoutableName } from '../../core/envelope/actor-name.ts';
import type { Resiliency } from '../../core/policy/policy.ts';
import { compileResiliency, NOT_JSON } from '../../core/policy/resiliency-input.ts';
import { defined } from '../../core/text/defined.ts';
import { describeReceived, describeValue } from '../../core/text/describe-value.ts';
import { durationText } from '../../core/text/duration.ts';
import type { Fields } from '../../core/text/fields.ts';
import { addUnknownKeys, isMisspelt, type MistakeCollector } from '../../core/text/mistake.ts';
import { defaultVisibilitySeconds, MAX_VISIBILITY_SECONDS } from '../settings/groups/sqs.ts';
import type { ActorSpec } from './manifest.ts';
import {
  optional,
  type ReadField,
  type Reference,
  readDurationMs,
  readMap,
  wholeSecondsFrom,
} from './manifest-field.ts';
import { withOnError } from './on-error.ts';

const FIELDS = ['actorTimeout', 'visibilityTimeout', 'policies', 'rules', 'onError'] as const;
const DEFAULT_TIMEOUT_MS = 300_000;

type Times = Pick<ActorSpec, 'timeoutMs' | 'visibilitySeconds' | 'resiliency'>;

/** Reads `spec.resiliency`: timeouts, policies and rules. */
export function readActorResiliency(
  value: unknown,
  actor: string,
  notes: MistakeCollector,
): Times & { readonly references: readonly Reference[] } {
  const fields = optional(value, notes, readMap, {}) as Fields;
  addUnknownKeys(notes, fields, FIELDS);
  const { rules = [], onError } = fields;
  const { policies = isMisspelt(fields, FIELDS, 'policies') ? NOT_JSON : {} } = fields;
  const resiliency = compileResiliency(policies, rules, {
    policies: notes.at('policies'),
    rules: notes.at('rules'),
  });
  const references = exhaustionReferences(resiliency, notes.at('policies'));
  if (onError === undefined) return { ...readTimes(fields, notes), resiliency, references };
  const reference = { name: onError, notes: notes.at('onError') };
  if (onError === actor) {
    reference.notes.add(
      `is "${actor}", which is this actor: its failures would come back to it; expected another actor`,
    );
  }
  return {
    ...readTimes(fields, notes),
    resiliency: isRoutableName(onError) ? withOnError(resiliency, onError) : resiliency,
    references: [...references, reference],
  };
}

/** Names that are not valid were reported before. */
function exhaustionReferences({ policies }: Resiliency, notes: MistakeCollector): readonly Reference[] {
  return [...policies].flatMap(([policy, { onExhausted }]) =>
    onExhausted.action !== 'route'
      ? []
      : onExhausted.actors
          .map((name, index) => ({ name, notes: notes.at(policy).at('onExhausted').at(index) }))
          .filter(({ name }) => isRoutableName(name)),
  );
}

function readTimes(fields: Fields, notes: MistakeCollector): Pick<Times, 'timeoutMs' | 'visibilitySeconds'> {
  const { actorTimeout, visibilityTimeout } = fields;
  const timeoutMs = optional(actorTimeout, notes.at('actorTimeout'), readTimeoutMs, undefined);
  const visibilitySeconds = optional(
    visibilityTimeout,
    notes.at('visibilityTimeout'),
    wholeSecondsFrom(1, MAX_VISIBILITY_SECONDS),
    undefined,
  );
  const isKnown =
    actorTimeout === undefined ? !isMisspelt(fields, FIELDS, 'actorTimeout') : timeoutMs !== undefined;
  const boundMs = timeoutMs ?? DEFAULT_TIMEOUT_MS;
  if (isKnown && visibilitySeconds !== undefined && visibilitySeconds * 1000 <= boundMs) {
    notes
      .at('visibilityTimeout')
      .add(
        `is ${describeValue(visibilityTimeout)}; it must be longer than the actorTimeout (${durationText(boundMs)}), or the broker redelivers messages that are still being processed; try "${defaultVisibilitySeconds(boundMs)}s"`,
      );
  }
  return { timeoutMs: boundMs, ...defined({ visibilitySeconds }) };
}

const readTimeoutMs: ReadField<number> = (value, notes) => {
  const milliseconds = readDurationMs(value, notes);
  if (milliseconds === undefined) return undefined;
  if (milliseconds > 0 && milliseconds < MAX_VISIBILITY_SECONDS * 1000) return milliseconds;
  const longest = durationText(MAX_VISIBILITY_SECONDS * 1000);
  notes.add(
    `${describeReceived(value)}; expected a duration above 0 and below ${longest}, the maximum visibility timeout of SQS`,
  );
  return undefined;
};
