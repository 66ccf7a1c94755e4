import { LANGUAGES, type Language } from './languages.ts';

/** The runtimes that the cases run against. */
const ENABLED: readonly Language['name'][] = ['node', 'python'];

export const ASYA_LANGUAGES = LANGUAGES.filter(({ name }) => ENABLED.includes(name));

/** A pair of an answer. The head is compared exactly; the body is JSON text, or empty. */
export interface Pair {
  readonly head: Readonly<Record<string, unknown>>;
  readonly body: string;
}

export interface AsyaCase {
  readonly title: string;
  readonly payload: unknown;
  readonly answer: readonly Pair[];
}

export interface AsyaErrorCase {
  readonly title: string;
  readonly payload: unknown;
  /** The pairs before the error. */
  readonly before?: readonly Pair[];
  readonly message: RegExp;
}

export const HEAD = {
  id: 'e-1',
  parent_id: 'e-0',
  actor: 'score',
  hop: 1,
  attempt: 2,
  max_attempts: 3,
  deadline: '2026-01-01T00:05:00Z',
  timeout_ms: 60_000,
  route: { prev: ['fetch'], curr: 'score', next: ['store', 'notify'] },
  headers: { traceparent: '00-1-2-01', colour: 'blue', 'x-asya-task': 't-1' },
  error: { type: 'ValueError', mro: ['ValueError', 'Exception'], message: 'bad', traceback: 'Traceback' },
  traceparent: '00-1-2-01',
  tracestate: 'a=1',
};

/** Only what the sidecar always sends. */
export const SHORT_HEAD = {
  id: 'e-2',
  actor: 'score',
  hop: 0,
  attempt: 1,
  timeout_ms: 60_000,
  route: { prev: [], curr: 'score', next: [] },
  headers: {},
};

const END: Pair = { head: { kind: 'end' }, body: '' };
const end = (value: unknown, head: object = {}): Pair => ({
  head: { kind: 'end', ...head },
  body: JSON.stringify(value),
});
const item = (value: unknown, head: object = {}): Pair => ({
  head: { kind: 'item', ...head },
  body: JSON.stringify(value),
});
const progress = (head: object, data?: unknown): Pair => ({
  head: { kind: 'progress', ...head },
  body: data === undefined ? '' : JSON.stringify(data),
});
const value = (title: string, result: unknown, answer: Pair): AsyaCase => ({
  title,
  payload: { do: 'value', steps: [], value: result },
  answer: [answer],
});

export const ASYA_CASES: readonly AsyaCase[] = [
  value('an object', { n: 1 }, end({ n: 1 })),
  value('a falsy value', 0, end(0)),
  value('an array, which the sidecar splits', [1, [2]], end([1, [2]])),
  value('an empty array', [], end([])),
  value('no value', null, END),
  {
    title: 'a new route and new headers with the value',
    payload: {
      do: 'value',
      steps: [
        ['next', ['review']],
        ['set', 'size', { w: 1 }],
        ['remove', 'colour'],
      ],
      value: 1,
    },
    answer: [
      end(1, {
        next: ['review'],
        headers: { traceparent: '00-1-2-01', 'x-asya-task': 't-1', size: { w: 1 } },
      }),
    ],
  },
  {
    title: 'names that only the sidecar can judge',
    payload: { do: 'value', steps: [['next', ['Not a name', 'x-sink']]], value: 1 },
    answer: [end(1, { next: ['Not a name', 'x-sink'] })],
  },
  {
    title: 'an empty rest of the route',
    payload: { do: 'value', steps: [['next', []]], value: 1 },
    answer: [end(1, { next: [] })],
  },
  {
    title: 'a header that is removed although it is not there',
    payload: { do: 'value', steps: [['remove', 'size']], value: 1 },
    answer: [end(1, { headers: HEAD.headers })],
  },
  ...['items', 'lateitems'].map((name) => ({
    title: `a generator, with the route at each yield (${name})`,
    payload: {
      do: name,
      steps: [
        ['yield', 'a'],
        ['next', ['b']],
        ['yield', null],
        ['next', []],
        ['yield', [1]],
      ],
    },
    answer: [item('a'), item(null, { next: ['b'] }), item([1], { next: [] }), END],
  })),
  { title: 'an empty generator', payload: { do: 'items', steps: [] }, answer: [END] },
  {
    title: 'progress before, between and after items',
    payload: {
      do: 'items',
      steps: [
        ['progress', { percent: 12.5, message: 'half of a quarter', data: { page: 1 } }],
        ['yield', 1],
        ['progress', { message: 'almost' }],
        ['yield', 2],
        ['progress', { percent: 100 }],
      ],
    },
    answer: [
      progress({ percent: 12.5, message: 'half of a quarter' }, { page: 1 }),
      item(1),
      progress({ message: 'almost' }),
      item(2),
      progress({ percent: 100 }),
      END,
    ],
  },
  {
    title: 'progress with a percentage outside the range',
    payload: {
      do: 'value',
      steps: [
        ['progress', { percent: 150 }],
        ['progress', { percent: -1 }],
      ],
      value: 1,
    },
    answer: [progress({ percent: 100 }), progress({ percent: 0 }), end(1)],
  },
  {
    title: 'progress without anything to report, which is not sent',
    payload: { do: 'value', steps: [['progress', { percent: 'a lot' }]], value: 1 },
    answer: [end(1)],
  },
];

export const ASYA_ERRORS: readonly AsyaErrorCase[] = [
  { title: 'an error', payload: { do: 'value', steps: [['fail', 'no price']] }, message: /^no price$/ },
  {
    title: 'an error of a generator after an item',
    payload: {
      do: 'items',
      steps: [
        ['yield', 1],
        ['fail', 'no price'],
      ],
    },
    before: [item(1)],
    message: /^no price$/,
  },
  ...['review', [1], null].map((names) => ({
    title: `the route ${JSON.stringify(names)}`,
    payload: { do: 'value', steps: [['next', names]] },
    message: /expected (a list|an array) of actor names$/,
  })),
  ...['traceparent', 'tracestate', 'deadline_at', 'x-asya-task', 'X-Asya-New'].flatMap((name) =>
    [
      ['set', name, 1],
      ['remove', name],
    ].map((step) => ({
      title: `${step[0]} of the header ${name}`,
      payload: { do: 'value', steps: [step] },
      message: new RegExp(`^the header "${name}" belongs to the mesh; use another name$`),
    })),
  ),
];
