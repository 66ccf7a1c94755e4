import fc from 'fast-check';
import type { FanOut } from '../../../lib/core/delivery/answer.ts';
import { jsonTexts, plainTexts, smallTexts } from './json-arbitraries.ts';
import { edgeOffsets, errorObjects, oneIn, pauses, policies, rolls, rulesFor } from './policy-arbitraries.ts';

/**
 * The parameters of generated deliveries, many of them near a limit. Values that depend on each other are generated
 * relative to each other (a deadline is "1 ms after a retry would arrive") and combined in delivery.ts.
 */

export const SINK = 'x-sink';
const NAMES = ['fetch', 'score', 'store', 'review', '0', 'a-1', 'n'.repeat(63)] as const;

type ValueOf<A> = A extends fc.Arbitrary<infer T> ? T : never;

export const FLAWS = [
  'no-id',
  'empty-id',
  'no-payload',
  'no-route',
  'bad-name',
  'crew-name',
  'bad-current',
  'bad-attempt',
  'bad-created',
  'bad-deadline',
  'bad-not-before',
  'bad-on-error',
  'crew-on-error',
  'headers-array',
  'status-array',
  'deep-status',
  'not-object',
  'cut-short',
] as const;
export const flaws = fc.constantFrom(...FLAWS);
/** A defect that makes a body invalid. */
export type Flaw = (typeof FLAWS)[number];

export const instantForms = fc.constantFrom('utc', 'utc', '+05:30', '-08:00', 'nanoseconds', 'lower-case');
export type InstantForm = ValueOf<typeof instantForms>;

const keys: fc.Arbitrary<string> = fc.constantFrom(
  'trace',
  '__proto__',
  'constructor',
  'toString',
  '0',
  '',
  'a b',
  '\u2028',
  '\udc00',
);
const members = (values: fc.Arbitrary<string>) =>
  fc.uniqueArray(fc.tuple(keys, values), { maxLength: 3, selector: ([key]) => key });

const handlerHeaders = fc.uniqueArray(
  fc.oneof(
    fc.tuple(keys, smallTexts),
    fc.constantFrom<[string, string]>(
      ['traceparent', '"forged"'],
      ['X-Asya-Task', '"forged"'],
      ['x-asya-not-before', '"never"'],
      ['deadline_at', '"never"'],
      ['event_time', '"whenever"'],
      ['_on_error', '"review"'],
      ['_on_error', '"Bad Name"'],
      ['_on_error', '5'],
    ),
  ),
  { maxLength: 3, selector: ([key]) => key },
);

const names: fc.Arbitrary<string> = fc.constantFrom(...NAMES);
const wrongNames: fc.Arbitrary<string> = fc.constantFrom('x-sump', 'x-sink', 'Bad', '', '-', 'n'.repeat(64));
const nextNames = fc.array(oneIn(40, wrongNames, names), { maxLength: 3 });

const frames = fc
  .tuple(jsonTexts, oneIn(3, nextNames), oneIn(2, handlerHeaders))
  .map(([payload, next, headers]) => ({ payload, next, headers }));

const kinds = <K extends string>(...names: readonly K[]) => fc.record({ kind: fc.constantFrom(...names) });

/** An answer with this number of values. */
export function framesOf(lengths: { readonly minLength?: number; readonly maxLength: number }) {
  return fc.record({ kind: fc.constant('frames' as const), frames: fc.array(frames, lengths) });
}

export const faultEnds = fc.record({
  kind: fc.constant('fault' as const),
  object: errorObjects,
  pause: pauses,
});

const ends = fc.oneof(
  { weight: 4, arbitrary: framesOf({ maxLength: 5 }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('socket' as const), text: jsonTexts }) },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('http' as const),
      status: fc.constantFrom(200, 204, 400, 429, 503),
      text: jsonTexts,
      next: oneIn(2, nextNames),
      pause: oneIn(3, pauses),
    }),
  },
  { weight: 7, arbitrary: faultEnds },
  { weight: 5, arbitrary: kinds('empty', 'timeout', 'timeout', 'interrupted', 'unreachable') },
);

const instants = (offsets: fc.Arbitrary<number>) => fc.record({ offsetMs: offsets, form: instantForms });

const deadlines = fc.record({
  from: fc.constantFrom('retry', 'retry', 'decision', 'call', 'arrival'),
  offsetMs: oneIn(6, fc.constantFrom<number[]>(-86_400_000, 86_400_000), edgeOffsets),
  form: instantForms,
});

export const NEVER = Number.POSITIVE_INFINITY;

export const deliveryParams = {
  now: fc.nat({ max: 100_000 }).map((ms) => Date.UTC(2026, 0, 1) + ms),
  elapsedMs: fc.constantFrom(0, 0, 1, 999, 1_000, 5_000, 300_000),
  /** The host's remaining time minus the actor's timeout. */
  hostTimeLeft: oneIn(9, edgeOffsets, fc.constant(NEVER)),
  random: rolls,
  isEnd: oneIn(8, fc.constant(true), fc.constant(false)),
  endActor: fc.constantFrom('archive', SINK),
  timeoutMs: fc.constantFrom(500, 1_000, 30_000, 300_000),
  maxHops: fc.constantFrom<number[]>(100, 5, 3),
  fanOut: oneIn(4, fc.constant<FanOut>('never'), fc.constant<FanOut>('array')),
  routeAllow: oneIn(4, fc.constantFrom(['store', 'review'], ['fetch', ...NAMES], [])),
  mainPolicy: policies,
  mainName: fc.constantFrom('default', 'default', 'main'),
  otherPolicy: policies,
  rules: rulesFor(['main', 'main', 'default', 'other', 'noRetry', 'nonretryable']),
  maxDelayMs: fc.constantFrom<number[]>(900_000, 900_000, NEVER, NEVER, 0),
  /** The transport's size limit minus the size of the received body. */
  bodyRoom: oneIn(3, fc.constantFrom<number[]>(-50, -1, 0, 1, 50, 150, 200, 300, 500, 1_500, 10_000)),
  end: ends,

  id: fc.constantFrom('e-1', 'e-1', 'e-1', '__proto__', '\ud800', ' ', '"]'),
  parentId: fc.constantFrom(undefined, undefined, 'p-1', 'e-1', '\udfff'),
  hops: oneIn(
    8,
    fc.record({ from: fc.constant('most' as const), count: fc.integer({ min: -2, max: 1 }) }),
    fc.record({ from: fc.constant('none' as const), count: fc.nat({ max: 2 }) }),
  ),
  curr: oneIn(12, fc.constantFrom('other', 'end'), fc.constant('own' as const)),
  next: fc.array(names, { maxLength: 3 }),
  shape: fc.constantFrom('new', 'new', 'old', 'both'),
  payload: jsonTexts,
  extra: members(smallTexts),
  headers: members(smallTexts),
  routeExtra: oneIn(3, members(plainTexts), fc.constant([])),
  statusExtra: oneIn(3, members(plainTexts), fc.constant([])),
  onError: oneIn(10, fc.constant('review')),
  notBefore: oneIn(
    6,
    instants(
      fc.oneof(
        edgeOffsets,
        edgeOffsets,
        fc.constantFrom<number[]>(-86_400_000, 900_000, 900_001, 864_000_000),
      ),
    ),
  ),
  hasStatus: oneIn(5, fc.constant(false), fc.constant(true)),
  phase: fc.constantFrom(
    ...Array<'retrying'>(8).fill('retrying'),
    'pending',
    'processing',
    'succeeded',
    'failed',
    'failed',
    'paused',
    'canceled',
    'later-word',
    7,
    undefined,
  ),
  statusActor: oneIn(4, fc.constantFrom('other', undefined), fc.constant('own' as const)),
  attempt: oneIn<{ from: 'none' | 'most'; count: number | undefined }, { from: 'most'; count: number }>(
    6,
    fc.record({
      from: fc.constant('none' as const),
      count: fc.constantFrom<(number | undefined)[]>(1, 2, 1_024, Number.MAX_SAFE_INTEGER, undefined),
    }),
    fc.record({ from: fc.constant('most' as const), count: fc.integer({ min: -3, max: 1 }) }),
  ),
  reason: fc.constantFrom(undefined, 'MaxRetriesExhausted', 'PolicyRouted', 'later-word'),
  hasError: fc.boolean(),
  created: oneIn(10, fc.constant(undefined), instants(edgeOffsets)),
  event: oneIn(3, instants(edgeOffsets)),
  eventJunk: oneIn(4, fc.constantFrom('"yesterday"', '5', 'null', '"2026-01-01"')),
  deadline: oneIn(2, deadlines),
  deadlineIn: fc.constantFrom('status', 'header', 'both'),
  flaw: oneIn(10, flaws),
  gap: fc.constantFrom('', '', ' ', '\r\n\t'),
  rotation: fc.nat({ max: 7 }),
  decoys: fc.boolean(),
  /** Write absent fields as `null`, which means the same. */
  nulls: fc.boolean(),
  asBytes: fc.boolean(),
} as const;

export type DeliveryParams = {
  readonly [K in keyof typeof deliveryParams]: ValueOf<(typeof deliveryParams)[K]>;
};

/** Parameters of deliveries that reach the runtime and fail there. */
export const faults = {
  isEnd: fc.constant(false),
  curr: fc.constant('own' as const),
  flaw: fc.constant(undefined),
  hostTimeLeft: fc.constant(NEVER),
  notBefore: fc.constant(undefined),
  maxHops: fc.constant(100),
  hops: fc.constant({ from: 'none' as const, count: 1 }),
  phase: fc.constantFrom('retrying', 'retrying', 'pending', undefined),
  end: fc.oneof(
    { weight: 4, arbitrary: faultEnds },
    { weight: 1, arbitrary: kinds('timeout', 'unreachable') },
  ),
};
