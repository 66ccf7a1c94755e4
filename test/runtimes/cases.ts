/** A call and its answer, the same in both languages. `answer` is text, because the exact bytes matter. */
export interface ValueCase {
  readonly title: string;
  readonly handler: string;
  readonly payload: unknown;
  /** Over HTTP, `null` is status 204 without a body. */
  readonly answer: string;
}

const same = (title: string, value: unknown): ValueCase => ({
  title,
  handler: 'echo',
  payload: value,
  answer: JSON.stringify(value),
});

export const VALUES: readonly ValueCase[] = [
  same('an object', { n: 1, deep: { list: [1, 'two', null, true] } }),
  same('an empty object', {}),
  same('a string', 'grüße, 世界 🎉'),
  same('an empty string', ''),
  same('a string of control characters', '\u0000\u001f"\\\n'),
  same('a lone surrogate', '\ud800'),
  same('a number', 1.5),
  same('a negative number', -7),
  same('the largest integer that both languages represent exactly', Number.MAX_SAFE_INTEGER),
  same('zero', 0),
  same('true', true),
  same('false', false),
  same('an array', [1, [2], { n: 3 }]),
  same('an empty array', []),
  same('an array with null', [null]),
  same('null', null),
  same('a large value', { text: 'ä'.repeat(300_000) }),
  { title: 'no value', handler: 'nothing', payload: 1, answer: 'null' },
  { title: 'an async handler', handler: 'later', payload: { n: 1 }, answer: '{"n":1}' },
  { title: 'a generator', handler: 'each', payload: [1, 'b', null], answer: '[1,"b",null]' },
  { title: 'a generator with one item', handler: 'each', payload: [{ n: 1 }], answer: '[{"n":1}]' },
  { title: 'a generator of arrays', handler: 'each', payload: [[1], []], answer: '[[1],[]]' },
  { title: 'an empty generator', handler: 'each', payload: [], answer: 'null' },
  { title: 'an async generator', handler: 'eachlater', payload: [1, 2], answer: '[1,2]' },
  { title: 'an async generator with one item', handler: 'eachlater', payload: [0], answer: '[0]' },
  { title: 'an empty async generator', handler: 'eachlater', payload: [], answer: 'null' },
  { title: 'an async handler that returns a generator', handler: 'lateeach', payload: [1], answer: '[1]' },
];

/** Every form in which the command line can name a handler. */
export const FORMS: readonly ValueCase[] = [
  { title: 'a function', handler: 'echo', payload: 1, answer: '1' },
  { title: 'an async function', handler: 'later', payload: 1, answer: '1' },
  { title: 'a generator function', handler: 'each', payload: [1], answer: '[1]' },
  { title: 'an async generator function', handler: 'eachlater', payload: [1], answer: '[1]' },
  { title: 'a method', handler: 'Counter.add', payload: 3, answer: '3' },
  { title: 'an async method', handler: 'Counter.addlater', payload: 3, answer: '3' },
  { title: 'a static method', handler: 'Counter.twice', payload: 3, answer: '6' },
  {
    title: 'a method whose name functions have too',
    handler: 'Counter.call',
    payload: 3,
    answer: '["call",3]',
  },
  {
    title: 'a function whose second parameter has a default',
    handler: 'default',
    payload: 1,
    answer: '{"payload":1,"threshold":0.5}',
  },
];

interface ErrorType {
  readonly type: string;
  readonly mro: readonly string[];
}

/** A thrown error, and the fields of the error object. */
export interface ErrorCase {
  readonly title: string;
  readonly payload: Readonly<Record<string, unknown>>;
  readonly message: string;
  readonly python: ErrorType;
  readonly node: ErrorType;
  readonly httpStatus?: number;
  readonly retryAfter?: number | string;
}

const LIMITED = {
  message: 'slow down',
  python: {
    type: 'handlers.RateLimited',
    mro: ['handlers.RateLimited', 'ConnectionError', 'OSError', 'Exception', 'BaseException', 'object'],
  },
  node: { type: 'RateLimited', mro: ['RateLimited', 'TypeError', 'Error', 'Exception'] },
} as const;

const STATUS_PATHS = [
  'status_code',
  'status',
  'http_status',
  'response.status_code',
  'response.status',
  'code',
  'statusCode',
  'response.statusCode',
  '$metadata.httpStatusCode',
];

const withFields = (title: string, fields: Readonly<Record<string, unknown>>): ErrorCase => ({
  ...LIMITED,
  title,
  payload: { kind: 'fields', fields },
});

export const ERRORS: readonly ErrorCase[] = [
  {
    title: 'a built-in error',
    payload: { kind: 'plain' },
    message: 'bad value',
    python: { type: 'ValueError', mro: ['ValueError', 'Exception', 'BaseException', 'object'] },
    node: { type: 'Error', mro: ['Error', 'Exception'] },
  },
  {
    title: 'an error whose property throws',
    payload: { kind: 'touchy' },
    message: 'careful',
    python: { type: 'handlers.Touchy', mro: ['handlers.Touchy', 'Exception', 'BaseException', 'object'] },
    node: { type: 'Touchy', mro: ['Touchy', 'Error', 'Exception'] },
  },
  {
    title: 'status and retry delay from the cause',
    payload: { kind: 'cause' },
    message: 'no price',
    python: { type: 'LookupError', mro: ['LookupError', 'Exception', 'BaseException', 'object'] },
    node: { type: 'RangeError', mro: ['RangeError', 'Error', 'Exception'] },
    httpStatus: 429,
    retryAfter: 'Fri, 31 Dec 1999 23:59:59 GMT',
  },
  withFields('a user-defined error with its ancestors', {}),
  ...STATUS_PATHS.map((path) => ({
    ...withFields(`the status in .${path}`, { [path]: 503 }),
    httpStatus: 503,
  })),
  ...[99, 600, '503', true, 503.5, null].map((value) =>
    withFields(`no status if it is ${JSON.stringify(value)}`, { status: value }),
  ),
  {
    ...withFields('the first valid status', { status: 'open', code: 418 }),
    httpStatus: 418,
  },
  ...['retry_after', 'retryAfter', 'response.retry_after'].map((path) => ({
    ...withFields(`retry_after in .${path}`, { [path]: 7 }),
    retryAfter: 7,
  })),
  { ...withFields('retry_after of 0 seconds', { retry_after: 0 }), retryAfter: 0 },
  ...['Retry-After', 'retry-after', 'RETRY-AFTER'].flatMap((name) =>
    ['headers', 'response.headers'].map((path) => ({
      ...withFields(`${name} in .${path}`, { [path]: { [name]: '120' } }),
      retryAfter: '120',
    })),
  ),
  { ...withFields('headers without Retry-After', { headers: { date: 'today' } }) },
  { ...LIMITED, title: 'a Headers object', payload: { kind: 'fields', get: '30' }, retryAfter: '30' },
];
