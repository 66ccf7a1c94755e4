import fc from 'fast-check';
import { faultFromErrorObject } from '../../../lib/core/delivery/answer.ts';
import type { Fault } from '../../../lib/core/envelope/fault.ts';
import type { Backoff, Exhaustion, Pattern, Policy, Rule } from '../../../lib/core/policy/policy.ts';
import { patternFromText } from '../../../lib/core/policy/policy-match.ts';
import { defined } from '../../../lib/core/text/defined.ts';
import { MAX_DURATION_MS } from '../../../lib/core/text/duration.ts';

/** The rare value once in `odds` cases. A counterexample shrinks to the usual value. */
export function oneIn<R, U = undefined>(
  odds: number,
  rare: fc.Arbitrary<R>,
  usual: fc.Arbitrary<U> = fc.constant(undefined as U),
): fc.Arbitrary<R | U> {
  return fc.oneof(
    { withCrossShrink: true },
    { weight: odds - 1, arbitrary: usual },
    { weight: 1, arbitrary: rare },
  );
}

/** Values around a limit, to find wrong comparisons. */
export const edgeOffsets: fc.Arbitrary<number> = fc.constantFrom(
  -1_001,
  -1_000,
  -999,
  -1,
  0,
  1,
  999,
  1_000,
  1_001,
);

const EDGE_DELAYS = [0, 1, 999, 1_000, 30_000, 899_999, 900_000, 900_001, 5_400_000, MAX_DURATION_MS];
export const delays = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom(...EDGE_DELAYS) },
  { weight: 1, arbitrary: fc.nat({ max: 4_000_000 }) },
);

const backoffs: fc.Arbitrary<Backoff> = fc.oneof(
  fc.record({ kind: fc.constantFrom('constant', 'linear', 'exponential'), initialMs: delays }),
  fc.record({
    kind: fc.constant('schedule' as const),
    delaysMs: fc.array(delays, { minLength: 1, maxLength: 4 }),
  }),
);

export const TOPIC = 'errors-topic';

const exhaustions: fc.Arbitrary<Exhaustion> = fc.oneof(
  fc.constantFrom<Exhaustion>({ action: 'sink' }, { action: 'drop' }, { action: 'escalate', topic: TOPIC }),
  fc.constantFrom<Exhaustion>(
    { action: 'route', actors: ['recover'] },
    { action: 'route', actors: ['review', 'score', 'store'] },
  ),
);

const limitsInTime = fc.constantFrom(0, 1, 1_000, 60_000, 3_600_000);

/** Compiled policies: a policy without a limit of attempts has a time limit. */
export const policies: fc.Arbitrary<Policy> = fc
  .record({
    maxAttempts: fc.constantFrom(1, 2, 3, 5, 6, Number.POSITIVE_INFINITY),
    backoff: backoffs,
    maxIntervalMs: oneIn(2, delays),
    maxDurationMs: oneIn(3, limitsInTime),
    expireAfterMs: oneIn(3, limitsInTime),
    jitter: fc.boolean(),
    onExhausted: exhaustions,
  })
  .map(({ maxIntervalMs, maxDurationMs, expireAfterMs, ...policy }) => {
    const isEndless = policy.maxAttempts === Number.POSITIVE_INFINITY && expireAfterMs === undefined;
    const durationMs = isEndless ? (maxDurationMs ?? 60_000) : maxDurationMs;
    return {
      ...policy,
      ...defined({ maxIntervalMs, maxDurationMs: durationMs, expireAfterMs }),
      exhaustedReason: 'PolicyExhausted',
    };
  });

export const rolls = fc.constantFrom(0, 0.5, 0.999, 1 - 2 ** -53);

const PATTERNS = [
  'Exception',
  'Exception',
  'TimeoutError',
  'Exception',
  'ValueError',
  'pkg.ValueError',
  'pkg.sub.ValueError',
  'OOM',
  'TimeoutError',
  'ActorTimeout',
  'ConnectionError',
  'RuntimeConnectionError',
  'http:503',
  'http:5xx',
  'http:429',
  'http:4xx',
]
  .map(patternFromText)
  .filter((pattern): pattern is Pattern => pattern !== undefined);

export function rulesFor(policyNames: readonly string[]): fc.Arbitrary<readonly Rule[]> {
  return fc.array(
    fc.record({
      errors: fc.array(fc.constantFrom(...PATTERNS), { minLength: 1, maxLength: 3 }),
      policy: fc.constantFrom(...policyNames),
    }),
    { maxLength: 3 },
  );
}

/** A delay that a runtime requests, in all forms. Dates are computed once the time is known. */
export const pauses = fc.oneof(
  { weight: 4, arbitrary: fc.constant({ form: 'none' } as const) },
  {
    weight: 4,
    arbitrary: fc.record({
      form: fc.constantFrom('seconds', 'text', 'rfc-3339', 'http-date'),
      ms: fc.constantFrom(-1_000, 0, 500, 1_000, 7_000, 900_000, 901_000, 1e12),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      form: fc.constant('value' as const),
      value: fc.constantFrom<unknown>(
        null,
        -1,
        Number.NaN,
        Number.POSITIVE_INFINITY,
        Number.NEGATIVE_INFINITY,
        '',
        ' 7',
        '-3',
        '1e3',
        'soon',
        '9'.repeat(400),
        '2026-02-30T00:00:00Z',
        'Thu, 99 Jan 2026 00:00:00 GMT',
        [7],
        { seconds: 7 },
        true,
      ),
    }),
  },
);
export type Pause = typeof pauses extends fc.Arbitrary<infer T> ? T : never;

export function retryAfterFrom(pause: Pause, now: number): unknown {
  switch (pause.form) {
    case 'none':
      return undefined;
    case 'value':
      return pause.value;
    case 'seconds':
      return pause.ms / 1000;
    case 'text':
      return String(pause.ms / 1000);
    case 'rfc-3339':
      return new Date(now + pause.ms).toISOString();
    case 'http-date':
      return new Date(now + pause.ms).toUTCString();
  }
}

const messages = fc.constantFrom('boom', '', '\ud800 half');
const longMessages = fc.constantFrom('m'.repeat(3_000), '\u{1f600}'.repeat(400));
const tracebacks = fc.constantFrom('at line 1', '');
const longTracebacks = fc.constantFrom('t'.repeat(9_000), '\u{1f600}'.repeat(3_000));

export const errorObjects = fc.record({
  isNested: fc.boolean(),
  fields: fc.record(
    {
      message: oneIn(8, longMessages, messages),
      type: fc.constantFrom('ValueError', 'pkg.ValueError', 'pkg.sub.ValueError', 'OOM', 'TimeoutError', ''),
      mro: fc.constantFrom(
        ['Exception'],
        ['pkg.ValueError', 'Exception', 'object'],
        [],
        ['Error', 'Exception'],
      ),
      traceback: oneIn(8, longTracebacks, tracebacks),
      http_status: fc.constantFrom(503, 500, 429, 404, 99, 600),
    },
    { requiredKeys: ['message', 'mro'] },
  ),
});

export function faultFrom(
  object: typeof errorObjects extends fc.Arbitrary<infer T> ? T : never,
  retryAfter: unknown,
): Fault {
  const fields = { ...object.fields, ...defined({ retry_after: retryAfter }) };
  return faultFromErrorObject(
    object.isNested ? { error: 'code', details: fields } : { error: 'code', ...fields },
  );
}
