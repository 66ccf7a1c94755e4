import { isRoutableName } from '../envelope/actor-name.ts';
import { defined } from '../text/defined.ts';
import { describeReceived, describeValue } from '../text/describe-value.ts';
import { DURATION_RULE, durationMs, durationText } from '../text/duration.ts';
import { type Fields, isFields } from '../text/fields.ts';
import { addUnknownKeys, type MistakeCollector } from '../text/mistake.ts';
import { suggestion } from '../text/nearest.ts';
import type { Backoff, Exhaustion, Policy } from './policy.ts';

/** A policy as the user writes it. */
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

const BACKOFFS = ['constant', 'fixed', 'linear', 'exponential', 'schedule'] as const;

type PolicyFields = Readonly<Record<(typeof FIELDS)[number], unknown>>;

/** What the user wrote, compiled; every mistake is noted, and what is returned then is not for use. */
export function compilePolicy(input: unknown, notes: MistakeCollector): Policy {
  if (!isFields(input)) {
    notes.add(`is ${describeValue(input)}, not an object like {"maxAttempts":3,"initialDelay":"1s"}`);
    return compilePolicy({}, notes);
  }
  addUnknownKeys(notes, input, FIELDS);
  const fields = input as PolicyFields;
  const maxIntervalMs = optionalLimit(fields.maxInterval, notes.at('maxInterval'));
  const maxDurationMs = optionalLimit(fields.maxDuration, notes.at('maxDuration'));
  const expireAfterMs = optionalLimit(fields.expireAfter, notes.at('expireAfter'));
  return {
    maxAttempts: compileMaxAttempts(fields, notes.at('maxAttempts')),
    backoff: compileBackoff(fields, notes),
    ...defined({ maxIntervalMs, maxDurationMs, expireAfterMs }),
    jitter: compileJitter(fields.jitter, notes.at('jitter')),
    onExhausted: compileExhaustion(fields.onExhausted, notes.at('onExhausted')),
    exhaustedReason: 'PolicyExhausted',
  };
}

function compileMaxAttempts(fields: PolicyFields, notes: MistakeCollector): number {
  const { maxAttempts = 0, maxDuration, expireAfter } = fields;
  if (maxAttempts === 'unlimited') {
    if (isUnset(maxDuration) && isUnset(expireAfter)) {
      notes.add('is "unlimited", which requires a maxDuration or an expireAfter above 0');
    }
    return Number.POSITIVE_INFINITY;
  }
  if (!Number.isSafeInteger(maxAttempts) || (maxAttempts as number) < 0) {
    notes.add(`is ${describeValue(maxAttempts)}, not a whole number from 0, nor "unlimited"`);
    return 1;
  }
  return Math.max(1, maxAttempts as number);
}

function compileBackoff(fields: PolicyFields, notes: MistakeCollector): Backoff {
  const { backoff = 'exponential', initialDelay, initialInterval, delays } = fields;
  if (!BACKOFFS.includes(backoff as (typeof BACKOFFS)[number])) {
    notes
      .at('backoff')
      .add(`is ${describeValue(backoff)}, none of ${BACKOFFS.join(', ')}${meant(backoff, BACKOFFS)}`);
  }
  if (initialDelay !== undefined && initialInterval !== undefined) {
    notes.at('initialInterval').add('is the older word for initialDelay; keep one of the two');
  }
  if (backoff === 'schedule') return compileSchedule(fields, notes);
  if (delays !== undefined) notes.at('delays').add('goes with "backoff":"schedule" only');
  const delayMs = optionalDuration(initialDelay, notes.at('initialDelay'));
  const initialMs = optionalDuration(initialInterval, notes.at('initialInterval')) ?? delayMs ?? 0;
  return { kind: backoff === 'fixed' ? 'constant' : (backoff as 'constant'), initialMs };
}

function compileSchedule(fields: PolicyFields, notes: MistakeCollector): Backoff {
  for (const place of ['initialDelay', 'initialInterval'] as const) {
    if (fields[place] !== undefined)
      notes.at(place).add('does not go with "backoff":"schedule"; delays says it all');
  }
  const { delays } = fields;
  if (!Array.isArray(delays) || delays.length === 0) {
    notes
      .at('delays')
      .add(`${describeReceived(delays)}; "backoff":"schedule" needs a list of durations like ["1s","5s"]`);
    return { kind: 'schedule', delaysMs: [0] };
  }
  const delaysMs = delays.map((delay, index) => requiredDuration(delay, notes.at('delays').at(index)));
  return { kind: 'schedule', delaysMs };
}

function compileJitter(jitter: unknown, notes: MistakeCollector): boolean {
  if (jitter !== undefined && typeof jitter !== 'boolean')
    notes.add(`is ${describeValue(jitter)}, not true or false`);
  return jitter === true;
}

function compileExhaustion(value: unknown, notes: MistakeCollector): Exhaustion {
  if (value === undefined || value === null) return { action: 'sink' };
  if (Array.isArray(value)) {
    if (value.length === 0) return { action: 'sink' };
    for (const [index, name] of value.entries()) {
      if (!isRoutableName(name)) {
        notes
          .at(index)
          .add(`is ${describeValue(name)}, no actor to route to; names are like "recover", never x-...`);
      }
    }
    return { action: 'route', actors: value };
  }
  if (!isFields(value)) {
    notes.add(
      `is ${describeValue(value)}; expected a list of actors, {"action":"escalate","topic":"..."} or {"action":"drop"}`,
    );
    return { action: 'sink' };
  }
  return compileAction(value, notes);
}

function compileAction(value: Fields, notes: MistakeCollector): Exhaustion {
  const { action, topic } = value;
  addUnknownKeys(notes, value, ['action', 'topic']);
  if (action === 'drop') {
    if (topic !== undefined)
      notes.at('topic').add('does not go with "action":"drop"; what is dropped goes nowhere');
    return { action };
  }
  if (action !== 'escalate') {
    const actions = ['escalate', 'drop'];
    notes
      .at('action')
      .add(`${describeReceived(action)}, none of ${actions.join(', ')}${meant(action, actions)}`);
    return { action: 'sink' };
  }
  if (typeof topic !== 'string' || topic === '' || topic.startsWith('x-')) {
    notes
      .at('topic')
      .add(`${describeReceived(topic)}, not the name of a topic or queue (x-... are the mesh's own)`);
    return { action: 'sink' };
  }
  return { action, topic };
}

/** A limit of 0 means "not set", as in Go, where both have the same zero value. */
function optionalLimit(value: unknown, notes: MistakeCollector): number | undefined {
  return optionalDuration(value, notes) || undefined;
}

/** Whether a limit is absent or 0. A value that is not a duration has its own mistake and counts as set. */
function isUnset(limit: unknown): boolean {
  return limit === undefined || durationMs(limit) === 0;
}

function optionalDuration(value: unknown, notes: MistakeCollector): number | undefined {
  return value === undefined ? undefined : requiredDuration(value, notes);
}

function requiredDuration(value: unknown, notes: MistakeCollector): number {
  const milliseconds = durationMs(value);
  if (milliseconds === undefined) notes.add(`is ${describeValue(value)}; ${DURATION_RULE}`);
  return milliseconds ?? 0;
}

function meant(typed: unknown, words: readonly string[]): string {
  return typeof typed === 'string' ? suggestion(typed, words) : '';
}

/** The inverse: what a user would have written for it. */
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
