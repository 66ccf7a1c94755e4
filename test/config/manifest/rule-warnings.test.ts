import { describe, expect, it } from 'vitest';
import { actorText, mistakesIn, warningsIn } from './a-mesh.ts';

const HANDLERS = {
  python: 'handler: a.b',
  node: 'handler: a.ts.b',
  url: 'url: http://a/',
};

/** One rule per line, each with the errors on it. The errors of the first rule are on line 9. */
function anActor(runtime: keyof typeof HANDLERS, rules: readonly string[]): Record<string, string> {
  const lines = rules.map((errors) => `  - {errors: [${errors}], policy: noRetry}`);
  return { 'a.yaml': actorText('a', HANDLERS[runtime], 'resiliency:', '  rules:', ...lines) };
}

function warningsOf(runtime: keyof typeof HANDLERS, ...rules: readonly string[]): readonly string[] {
  const texts = anActor(runtime, rules);
  expect(mistakesIn(texts)).toEqual([]);
  return warningsIn(texts);
}

const FIRST = 'a.yaml:9:17 spec.resiliency.rules[0].errors[0]';
const SECOND = 'a.yaml:10:17 spec.resiliency.rules[1].errors[0]';

function never(narrow: string, wide: string): string {
  return `${SECOND}: is "${narrow}", which never matches here: "${wide}" at ${FIRST} matches these errors first; put this rule before it`;
}

describe('an error in a rule', () => {
  it.each([
    ['python', 'Exception', 'ValueError'],
    ['python', 'BaseException', 'SystemExit'],
    ['python', 'ValueError', 'json.decoder.JSONDecodeError'],
    ['python', 'OSError', 'ConnectionResetError'],
    ['python', 'LookupError', 'KeyError'],
    ['python', 'Exception', 'LowConfidence'],
    ['python', 'Exception', 'pkg.LowConfidence'],
    ['python', 'LowConfidence', 'pkg.LowConfidence'],
    ['python', 'TimeoutError', 'ActorTimeout'],
    ['python', 'ConnectionError', 'RuntimeConnectionError'],
    ['python', 'Exception', 'TimeoutError'],
    ['python', '"http:5xx"', '"http:503"'],
    ['python', 'Exception', '"http:503"'],
    ['node', 'Exception', '"http:5xx"'],
    ['node', 'Error', 'TypeError'],
    ['node', 'Exception', 'Error'],
    ['url', '"http:5xx"', '"http:503"'],
    ['url', 'LowConfidence', 'pkg.LowConfidence'],
  ] as const)('never matches (%s): after %s, %s', (runtime, wide, narrow) => {
    const [one, other] = [narrow.replaceAll('"', ''), wide.replaceAll('"', '')];
    expect(warningsOf(runtime, wide, narrow)).toEqual([never(one, other)]);
    expect(warningsOf(runtime, narrow, wide)).toEqual([]);
    // In one rule, the order has no effect.
    expect(warningsOf(runtime, `${wide}, ${narrow}`)).toEqual([]);
  });

  it.each([
    ['python', 'ValueError', 'KeyError'],
    ['python', 'Exception', 'SystemExit'],
    // Another class may have the same last name.
    ['python', 'ValueError', 'JSONDecodeError'],
    ['python', 'pkg.LowConfidence', 'LowConfidence'],
    // Only the one that the sidecar reports is not an OSError.
    ['python', 'OSError', 'TimeoutError'],
    ['python', 'OSError', 'ConnectionError'],
    ['python', 'Exception', 'ValidationError'],
    ['node', 'DOMException', 'TimeoutError'],
    ['node', 'ValueError', 'JSONDecodeError'],
    ['node', 'Error', '"http:503"'],
    ['url', 'Exception', 'ValueError'],
    ['url', 'Exception', '"http:503"'],
    ['python', '"http:4xx"', '"http:503"'],
    ['python', '"http:503"', '"http:5xx"'],
  ] as const)('may match (%s): after %s, %s', (runtime, first, second) => {
    expect(warningsOf(runtime, first, second)).toEqual([]);
  });

  it.each(['pkg.Own', 'Own', '"http:503"', '"http:5xx"'])('is there twice: %s', (name) => {
    const text = name.replaceAll('"', '');
    expect(warningsOf('url', name, name)).toEqual([
      `${SECOND}: is "${text}", which is already at ${FIRST}; remove one`,
    ]);
    expect(warningsOf('node', `${name}, ${name}`)).toHaveLength(1);
  });

  it.each([
    ['python', 'ValueEror', 'ValueError'],
    ['python', 'Valueerror', 'ValueError'],
    ['python', 'KeyErorr', 'KeyError'],
    ['python', 'ConectionError', 'ConnectionError'],
    ['python', 'TimeOutError', 'TimeoutError'],
    ['node', 'TimeOutError', 'TimeoutError'],
    ['node', 'TypeEror', 'TypeError'],
    ['url', 'RuntimeConectionError', 'RuntimeConnectionError'],
    ['python', 'ActorTimeOut', 'ActorTimeout'],
    ['python', 'asya.NonRetriable', 'asya.NonRetryable'],
  ] as const)('is probably a misspelling (%s): %s', (runtime, name, meant) => {
    expect(warningsOf(runtime, name)).toEqual([
      `${FIRST}: is "${name}", which is not a standard error; did you mean "${meant}"?`,
    ]);
  });

  it.each([
    [
      'python',
      'json.JSONDecodeError',
      ', but the runtime reports this error as "json.decoder.JSONDecodeError"; use that name',
    ],
    ['python', 'builtins.ValueError', ', but the runtime reports this error as "ValueError"; use that name'],
    ['python', 'IOError', ', which is another name of OSError in Python; use "OSError"'],
    ['node', 'http503', ', which is read as the name of an error; did you mean "http:503"?'],
    ['node', 'http-5xx', ', which is read as the name of an error; did you mean "http:5xx"?'],
  ] as const)('is never reported under this name (%s): %s', (runtime, name, problem) => {
    expect(warningsOf(runtime, name)).toEqual([`${FIRST}: is "${name}"${problem}`]);
  });

  it.each([
    'LowConfidence, RateLimitError, QuotaError, NotFoundError, PaymentError, ValidationError, DataError, ApiError',
    'MyValueError, BadTypeError, HttpTimeoutError, OpKeyError',
    'ParserError, DateError, OrderError, NoteError, UserError, TaskError, HTTPError, SendError, ServerError',
    'pkg.ValueEror, requests.exceptions.Timeout, openai.RateLimitError, botocore.exceptions.ClientError',
    'asya.NonRetryable, asya.RetryAfter, ActorTimeout, RuntimeConnectionError, DOMException, KeyError',
  ])('of a user, and a known one, is not reported: %s', (names) => {
    expect(warningsOf('node', names)).toEqual([]);
    expect(warningsOf('python', names)).toEqual([]);
    expect(warningsOf('url', names)).toEqual([]);
  });

  it.each([
    ['429', '429', 'http:429'],
    ['"429"', '"429"', 'http:429'],
    ['5xx', '"5xx"', 'http:5xx'],
    ['http:5x', '"http:5x"', 'http:5xx'],
    ['HTTP:503', '"HTTP:503"', 'http:503'],
    ['"http: 503"', '"http: 503"', 'http:503'],
  ])('that is a status is a mistake: %s', (text, received, meant) => {
    expect(mistakesIn(anActor('node', [text]))).toEqual([
      `${FIRST}: is ${received}; expected an error name such as "ValueError", "http:503" or "http:5xx"; did you mean "${meant}"?`,
    ]);
  });

  it('is not compared with errors that are not valid', () => {
    const texts = anActor('python', ['429', 'ValueError', 'Exception, 5, http:503']);
    expect(mistakesIn(texts)).toHaveLength(2);
    expect(warningsIn(texts)).toEqual([]);
  });
});
