import { describe, expect, it } from 'vitest';
import { asNormal, httpError, topicPublishError } from '../../lib/error-handling/errors.ts';
import { classifyError } from '../../lib/error-handling/is-error-retriable.ts';

const statusOf = (thrown: unknown) => classifyError(thrown).fault.httpStatus;
const error = (fields: object, message = 'it failed') => Object.assign(new Error(message), fields);

class GoogleError extends Error {
  code = 0;
}
class TopicPublishError extends Error {}

/** Like an error of @grpc/grpc-js: a message of code, name and details, and the three fields of a status. */
function grpcError(code: number, name: string) {
  return error({ code, details: 'no', metadata: { internalRepr: new Map() } }, `${code} ${name}: no`);
}

const GRPC: readonly (readonly [string, number])[] = [
  ['CANCELLED', 499],
  ['UNKNOWN', 500],
  ['INVALID_ARGUMENT', 400],
  ['DEADLINE_EXCEEDED', 504],
  ['NOT_FOUND', 404],
  ['ALREADY_EXISTS', 409],
  ['PERMISSION_DENIED', 403],
  ['RESOURCE_EXHAUSTED', 429],
  ['FAILED_PRECONDITION', 400],
  ['ABORTED', 409],
  ['OUT_OF_RANGE', 400],
  ['UNIMPLEMENTED', 501],
  ['INTERNAL', 500],
  ['UNAVAILABLE', 503],
  ['DATA_LOSS', 500],
  ['UNAUTHENTICATED', 401],
];

describe('the HTTP status of an error', () => {
  it.each([
    ['httpError', httpError(503, 'down'), 503],
    ['http-errors', error({ status: 410, statusCode: 410, expose: true }), 410],
    ['axios', error({ name: 'AxiosError', code: 'ERR_BAD_RESPONSE', response: { status: 502 } }), 502],
    ['got', error({ name: 'HTTPError', response: { statusCode: 429 } }), 429],
    ['a thrown Response', new Response('', { status: 404 }), 404],
    ['a Response as the cause', new Error('no', { cause: new Response('', { status: 423 }) }), 423],
    ['gaxios', error({ code: 403, status: 403, response: { status: 403 } }), 403],
    ['gaxios before version 6', error({ code: '503', response: { status: 503 } }), 503],
    ['gaxios, timeout', error({ code: 'TimeoutError', cause: error({ name: 'AbortError' }) }), 504],
    ['gaxios, connection closed early', error({ code: 'ERR_STREAM_PREMATURE_CLOSE' }), 502],
    ["Google's error body", error({ code: 404, status: 'NOT_FOUND' }), 404],
    ["Google's status name", error({ status: 'RESOURCE_EXHAUSTED' }), 429],
    ['AWS', error({ name: 'InternalError', $fault: 'server', $metadata: { httpStatusCode: 500 } }), 500],
    ['AWS, throttled', error({ name: 'ThrottlingException', $metadata: { httpStatusCode: 400 } }), 429],
    ['AWS, throttling trait', error({ name: 'Busy', $retryable: { throttling: true } }), 429],
    ['AWS, timeout', error({ name: 'RequestTimeout', $metadata: { httpStatusCode: 400 } }), 504],
    ['AWS, version 2', error({ code: 'ProvisionedThroughputExceededException', statusCode: 400 }), 429],
    ['a plain object', { status: 504 }, 504],
    ['a timeout signal', new DOMException('The operation timed out', 'TimeoutError'), 504],
    ['a refused connection', error({ code: 'ECONNREFUSED', syscall: 'connect' }), 503],
    ['a reset connection', error({ code: 'ECONNRESET' }), 502],
    ['undici, connect timeout', error({ code: 'UND_ERR_CONNECT_TIMEOUT' }), 504],
  ])('is read from %s', (_source, thrown, status) => {
    expect(statusOf(thrown)).toBe(status);
  });

  it.each(GRPC)('is mapped from gRPC %s, by number and by name', (name, status) => {
    const code = GRPC.findIndex(([one]) => one === name) + 1;
    expect(statusOf(grpcError(code, name))).toBe(status);
    expect(statusOf(Object.assign(new GoogleError('gax gave up'), { code }))).toBe(status);
    expect(statusOf(error({ code: name }))).toBe(status);
    expect(statusOf(new Error('wrapped', { cause: grpcError(code, name) }))).toBe(status);
  });

  it.each([
    ['a command with exit status 5', error({ code: 5, killed: false, cmd: 'grep' })],
    ['a DOMException with a legacy code', new DOMException('no', 'NotFoundError')],
    ['gRPC status OK', grpcError(0, 'OK')],
    ['an unknown gRPC number', grpcError(17, '')],
    ['an unknown code', error({ code: 'ENOTFOUND' })],
    ['a successful status', error({ status: 200 })],
    ['a redirect', error({ status: 304 })],
    ['a fractional status', error({ status: 503.5 })],
    ['a status above 599', error({ status: 600 })],
    ['an SQL state', error({ code: '23505' })],
    ['a bug', new TypeError('x is not a function')],
    ['an aborted signal', new DOMException('no', 'AbortError')],
    ['an AggregateError', new AggregateError([httpError(404, 'a'), httpError(503, 'b')])],
    ['undefined', undefined],
    ['text', 'HTTP 503'],
    ['a number', 503],
  ])('is undefined for %s', (_kind, thrown) => {
    expect(statusOf(thrown)).toBeUndefined();
  });
});

describe('causes', () => {
  it('are followed through several levels', () => {
    const deep = [1, 2, 3, 4, 5].reduce<unknown>(
      (cause) => new Error('around', { cause }),
      httpError(503, 'x'),
    );
    expect(statusOf(deep)).toBe(503);
  });

  it('are ignored after the sixteenth error of the chain', () => {
    const chain = (length: number) =>
      Array.from({ length }).reduce<unknown>((cause) => new Error('around', { cause }), httpError(503, 'x'));
    expect(statusOf(chain(15))).toBe(503);
    expect(statusOf(chain(16))).toBeUndefined();
  });

  it('apply only if no error around them has an error status', () => {
    expect(statusOf(httpError(400, 'not an order', httpError(503, 'down')))).toBe(400);
    expect(statusOf(error({ status: 200, cause: httpError(503, 'down') }))).toBe(503);
  });

  it('do not make a TopicPublishError permanent: the topic is missing, not the order', () => {
    const { fault } = classifyError(topicPublishError('invoices', grpcError(5, 'NOT_FOUND')));
    expect(fault).toMatchObject({ type: 'TopicPublishError' });
    expect(fault.httpStatus).toBeUndefined();
  });

  it('may be circular', () => {
    const one = error({});
    const other = error({ cause: one, status: 429 });
    expect(statusOf(Object.assign(one, { cause: other }))).toBe(429);
  });

  it('are included in the message and in the traceback', () => {
    const { fault } = classifyError(
      new TypeError('fetch failed', { cause: error({ code: 'ECONNRESET' }, 'gone') }),
    );
    expect(fault.message).toBe('fetch failed; caused by Error: gone');
    expect(fault.traceback).toMatch(/^TypeError: fetch failed\n[\s\S]+\nCaused by: Error: gone\n/);
  });
});

describe('the type of an error', () => {
  it('is its class or its name, with its ancestors in mro', () => {
    expect(classifyError(new TopicPublishError('x')).fault).toMatchObject({
      type: 'TopicPublishError',
      mro: ['Error', 'Exception'],
    });
    expect(classifyError(error({ name: 'ClientClosedError' })).fault).toMatchObject({
      type: 'ClientClosedError',
      mro: ['Error', 'Exception'],
    });
    expect(classifyError(new TypeError('x')).fault.mro).toEqual(['Error', 'Exception']);
  });

  it('includes the type of a cause that decides about retries', () => {
    const { fault } = classifyError(new RangeError('outer', { cause: new TopicPublishError('inner') }));
    expect(fault).toMatchObject({ type: 'RangeError', mro: ['TopicPublishError', 'Error', 'Exception'] });
  });

  it.each([
    ['text', 'text'],
    [undefined, 'threw undefined'],
    [null, 'threw null'],
    [7, 'threw 7'],
    [7n, 'threw a bigint'],
    [Symbol('s'), 'threw a symbol'],
    [() => 1, 'threw a function'],
    [{ a: 1 }, 'threw {"a":1}'],
  ])('is ThrownValue for %s', (thrown, message) => {
    expect(classifyError(thrown)).toEqual({
      fault: {
        type: 'ThrownValue',
        mro: ['Error', 'Exception'],
        message,
        traceback: expect.stringContaining(message),
      },
      isNormal: false,
    });
  });

  it('comes with the messages of all errors of an AggregateError', () => {
    expect(classifyError(new AggregateError([new Error('a'), new Error('b')])).fault.message).toBe('a; b');
  });
});

describe('a traceback', () => {
  it('is cut in the middle above 8 KB', () => {
    const { traceback } = classifyError(error({ stack: `head${'x'.repeat(20_000)}tail` })).fault;
    expect(traceback.length).toBeLessThanOrEqual(8 * 1024);
    expect(traceback).toMatch(/^head[\s\S]+cut[\s\S]+tail$/);
  });
});

describe('a normal error', () => {
  it('is marked by the handler, on the error or on its cause', () => {
    expect(classifyError(asNormal(httpError(503, 'x'))).isNormal).toBe(true);
    expect(classifyError(new Error('outer', { cause: asNormal(new Error('inner')) })).isNormal).toBe(true);
    expect(classifyError(error({ normal: 'true' })).isNormal).toBe(false);
    expect(classifyError(error({})).isNormal).toBe(false);
  });
});
