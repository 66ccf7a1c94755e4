import { isRoutableName, RESERVED_NAME_RULE } from '../envelope/actor-name.ts';
import { defined } from '../text/defined.ts';
import { describeReceived, describeValue } from '../text/describe-value.ts';
import { DURATION_RULE, durationMs, durationText } from '../text/duration.ts';
import { type Fields, isFields } from '../text/fields.ts';
import { addUnknownKeys, isMisspelt, type MistakeCollector } from '../text/mistake.ts';
import { suggestion } from '../text/nearest.ts';
import type { Backoff, Exhaustion, Policy } from './policy.ts';

/** A policy as the user writes it. `docs/error-handling.md` describes each field. */
export interface PolicyInput {
  readonly maxAttempts?: number | 'unlimited';
  readonly backoff?: 'constant' | 'fixed' | 'linear' | 'exponential' | 'schedule';
  readonly initialDelay?: string;
  readonly initialInterval?: string;
  readonly delays?: readonly string[];
  readonly maxInterval?: string;
  readonly maxDuration?: string;
  readonly expireAfter?: string;
  readonly jitter?: boolean;
  readonly onExhausted?:
    | readonly string[]
    | { readonly action: 'escalate'; readonly topic: string }
    | { readonly action: 'drop' }
    | null;
}

const FIELDS = [
  'maxAttempts',
  'backoff',
  'initialDelay',
  'initialInterval',
  'delays',
  'maxInterval',
  'maxDuration',
  'expireAfter',
  'jitter',
  'onExhausted',
] as const satisfies readonly (keyof PolicyInput)[];

/** What can end unlimited attempts. */
const LIMITS = ['maxDuration', 'expireAfter'] as const;

const BACKOFFS = ['constant', 'fixed', 'linear', 'exponential', 'schedule'] as const;

type PolicyFields = Readonly<Record<(typeof FIELDS)[number], unknown>>;

/** Validates and compiles a policy. If it adds mistakes, the returned policy must not be used. */
export function compilePolicy(input: unknown, mistakes: MistakeCollector): Policy {
  if (!isFields(input)) {
    mistakes.add(`is ${describeValue(input)}; expected an object like {"maxAttempts":3,"initialDelay":"1s"}`);
    return compilePolicy({}, mistakes);
  }
  addUnknownKeys(mistakes, input, FIELDS);
  const fields = input as PolicyFields;
  const maxIntervalMs = optionalLimit(fields.maxInterval, mistakes.at('maxInterval'));
  const maxDurationMs = optionalLimit(fields.maxDuration, mistakes.at('maxDuration'));
  const expireAfterMs = optionalLimit(fields.expireAfter, mistakes.at('expireAfter'));
  return {
    maxAttempts: compileMaxAttempts(fields, mistakes.at('maxAttempts')),
    backoff: compileBackoff(fields, mistakes),
    ...defined({ maxIntervalMs, maxDurationMs, expireAfterMs }),
    jitter: compileJitter(fields.jitter, mistakes.at('jitter')),
    onExhausted: compileExhaustion(fields.onExhausted, mistakes.at('onExhausted')),
    exhaustedReason: 'PolicyExhausted',
  };
}

function compileMaxAttempts(fields: PolicyFields, mistakes: MistakeCollector): number {
  const { maxAttempts = 0, maxDuration, expireAfter } = fields;
  if (maxAttempts === 'unlimited') {
    const isLimitMisspelt = LIMITS.some((limit) => isMisspelt(fields, FIELDS, limit));
    if (isUnset(maxDuration) && isUnset(expireAfter) && !isLimitMisspelt) {
      mistakes.add('is "unlimited", which requires a maxDuration or an expireAfter above 0');
    }
    return Number.POSITIVE_INFINITY;
  }
  if (!Number.isSafeInteger(maxAttempts) || (maxAttempts as number) < 0) {
    mistakes.add(`is ${describeValue(maxAttempts)}; expected a whole number, 0 or more, or "unlimited"`);
    return 1;
  }
  return Math.max(1, maxAttempts as number);
}

function compileBackoff(fields: PolicyFields, mistakes: MistakeCollector): Backoff {
  const { backoff = 'exponential', initialDelay, initialInterval, delays } = fields;
  const isBackoff = BACKOFFS.includes(backoff as (typeof BACKOFFS)[number]);
  const isMeant = isBackoff && !isMisspelt(fields, FIELDS, 'backoff');
  if (!isBackoff) {
    mistakes
      .at('backoff')
      .add(`is ${describeValue(backoff)}; expected one of ${BACKOFFS.join(', ')}${hint(backoff, BACKOFFS)}`);
  }
  if (initialDelay !== undefined && initialInterval !== undefined) {
    mistakes.at('initialInterval').add('is the older name of initialDelay; set only one of the two');
  }
  if (backoff === 'schedule') return compileSchedule(fields, mistakes);
  if (delays !== undefined && isMeant) mistakes.at('delays').add('requires "backoff":"schedule"');
  const delayMs = optionalDuration(initialDelay, mistakes.at('initialDelay'));
  const initialMs = optionalDuration(initialInterval, mistakes.at('initialInterval')) ?? delayMs ?? 0;
  return { kind: backoff === 'fixed' ? 'constant' : (backoff as 'constant'), initialMs };
}

function compileSchedule(fields: PolicyFields, mistakes: MistakeCollector): Backoff {
  for (const place of ['initialDelay', 'initialInterval'] as const) {
    if (fields[place] !== undefined)
      mistakes.at(place).add('cannot be combined with "backoff":"schedule"; use delays');
  }
  const { delays } = fields;
  if (!Array.isArray(delays) || delays.length === 0) {
    mistakes
      .at('delays')
      .add(`${describeReceived(delays)}; "backoff":"schedule" requires a list of durations like ["1s","5s"]`);
    return { kind: 'schedule', delaysMs: [0] };
  }
  const delaysMs = delays.map((delay, index) => requiredDuration(delay, mistakes.at('delays').at(index)));
  return { kind: 'schedule', delaysMs };
}

function compileJitter(jitter: unknown, mistakes: MistakeCollector): boolean {
  if (jitter !== undefined && typeof jitter !== 'boolean')
    mistakes.add(`is ${describeValue(jitter)}; expected true or false`);
  return jitter === true;
}

function compileExhaustion(value: unknown, mistakes: MistakeCollector): Exhaustion {
  if (value === undefined || value === null) return { action: 'sink' };
  if (Array.isArray(value)) {
    if (value.length === 0) return { action: 'sink' };
    for (const [index, name] of value.entries()) {
      if (!isRoutableName(name)) {
        mistakes
          .at(index)
          .add(`is ${describeValue(name)}; expected an actor name such as "recover"; ${RESERVED_NAME_RULE}`);
      }
    }
    return { action: 'route', actors: value };
  }
  if (!isFields(value)) {
    mistakes.add(
      `is ${describeValue(value)}; expected a list of actors, {"action":"escalate","topic":"..."} or {"action":"drop"}`,
    );
    return { action: 'sink' };
  }
  return compileAction(value, mistakes);
}

function compileAction(value: Fields, mistakes: MistakeCollector): Exhaustion {
  const { action, topic } = value;
  addUnknownKeys(mistakes, value, ['action', 'topic']);
  const hasOnlyUnknown = action === undefined && topic === undefined && Object.keys(value).length > 0;
  if (hasOnlyUnknown) return { action: 'sink' };
  if (action === 'drop') {
    if (topic !== undefined)
      mistakes
        .at('topic')
        .add('cannot be combined with "action":"drop": a dropped envelope is not sent anywhere');
    return { action };
  }
  if (action !== 'escalate') {
    const actions = ['escalate', 'drop'];
    mistakes
      .at('action')
      .add(`${describeReceived(action)}; expected one of ${actions.join(', ')}${hint(action, actions)}`);
    return { action: 'sink' };
  }
  if (typeof topic !== 'string' || topic === '' || topic.startsWith('x-')) {
    mistakes
      .at('topic')
      .add(`${describeReceived(topic)}; expected the name of a topic or queue; ${RESERVED_NAME_RULE}`);
    return { action: 'sink' };
  }
  return { action, topic };
}

/** A limit of 0 means "not set", as in Go, where 0 is the value of an unset duration. */
function optionalLimit(value: unknown, mistakes: MistakeCollector): number | undefined {
  return optionalDuration(value, mistakes) || undefined;
}

/** Whether a limit is absent or 0. A value that is not a duration has its own mistake and counts as set. */
function isUnset(limit: unknown): boolean {
  return limit === undefined || durationMs(limit) === 0;
}

function optionalDuration(value: unknown, mistakes: MistakeCollector): number | undefined {
  return value === undefined ? undefined : requiredDuration(value, mistakes);
}

function requiredDuration(value: unknown, mistakes: MistakeCollector): number {
  const milliseconds = durationMs(value);
  if (milliseconds === undefined) mistakes.add(`is ${describeValue(value)}; ${DURATION_RULE}`);
  return milliseconds ?? 0;
}

function hint(typed: unknown, words: readonly string[]): string {
  return typeof typed === 'string' ? suggestion(typed, words) : '';
}

/** The inverse of `compilePolicy`: the policy as a user would write it. */
export function policyInput(policy: Policy): PolicyInput {
  const { maxAttempts, backoff, maxIntervalMs, maxDurationMs, expireAfterMs, jitter, onExhausted } = policy;
  return {
    maxAttempts: maxAttempts === Number.POSITIVE_INFINITY ? 'unlimited' : maxAttempts,
    backoff: backoff.kind,
    ...(backoff.kind === 'schedule'
      ? { delays: backoff.delaysMs.map(durationText) }
      : { initialDelay: durationText(backoff.initialMs) }),
    ...(maxIntervalMs !== undefined && { maxInterval: durationText(maxIntervalMs) }),
    ...(maxDurationMs !== undefined && { maxDuration: durationText(maxDurationMs) }),
    ...(expireAfterMs !== undefined && { expireAfter: durationText(expireAfterMs) }),
    ...(jitter ? { jitter } : {}),
    ...(onExhausted.action === 'sink' ? {} : { onExhausted: exhaustionInput(onExhausted) }),
  };
}

function exhaustionInput(
  onExhausted: Exclude<Exhaustion, { action: 'sink' }>,
): NonNullable<PolicyInput['onExhausted']> {
  return onExhausted.action === 'route' ? onExhausted.actors : onExhausted;
}
