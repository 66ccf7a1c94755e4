import { inspect } from 'node:util';
import { valueAt } from './value-at.ts';

/** A thrown value as the sidecar reads it. Retry rules match on `type`, `mro` and `http_status`. */
export interface ErrorObject {
  readonly error: string;
  readonly message: string;
  readonly type: string;
  readonly mro: readonly string[];
  readonly traceback: string;
  readonly http_status?: number;
  readonly retry_after?: number | string;
}

/** Where common HTTP clients store the status, the retry delay and the headers of a failed request. */
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
const RETRY_AFTER_PATHS = ['retry_after', 'retryAfter', 'response.retry_after', 'response.retryAfter'];
const HEADERS_PATHS = ['response.headers', 'headers', '$response.headers'];

export function errorObjectFrom(thrown: unknown, code = 'processing_error'): ErrorObject {
  const chain = withCauses(thrown);
  const valuesAt = (paths: readonly string[]): unknown[] =>
    chain.flatMap((error) => paths.map((path) => valueAt(error, path)));
  const httpStatus = valuesAt(STATUS_PATHS).find(isHttpStatus);
  const retryAfter = [...valuesAt(RETRY_AFTER_PATHS), ...valuesAt(HEADERS_PATHS).map(retryAfterIn)].find(
    isDelay,
  );
  const { type, mro } = typeNamesOf(thrown);
  return {
    error: code,
    message: messageOf(thrown) || type,
    type,
    mro,
    traceback: tracebackOf(thrown),
    ...(httpStatus === undefined ? {} : { http_status: httpStatus }),
    ...(retryAfter === undefined ? {} : { retry_after: retryAfter }),
  };
}

/** The class, its ancestors, then `Exception`, so that a rule for `Exception` works in Python and in Node. */
function typeNamesOf(thrown: unknown): { type: string; mro: readonly string[] } {
  const classes = classNames(thrown);
  // A name that differs from every class name is more specific: an AbortError is an instance of DOMException.
  const name = valueAt(thrown, 'name');
  const isSpecific = typeof name === 'string' && name !== '' && !classes.includes(name);
  const names = isSpecific ? [name, ...classes] : classes;
  const chain = names.length === 0 ? ['ThrownValue'] : names;
  const withError = chain.includes('Error') ? chain : [...chain, 'Error'];
  return { type: withError[0] ?? '', mro: [...withError, 'Exception'] };
}

function classNames(value: unknown): string[] {
  if (typeof value !== 'object' || value === null) return [];
  const names: string[] = [];
  for (let at = Object.getPrototypeOf(value); at !== null; at = Object.getPrototypeOf(at)) {
    const name = Object.hasOwn(at, 'constructor') ? valueAt(at, 'constructor.name') : undefined;
    if (typeof name === 'string' && name !== '' && name !== 'Object') names.push(name);
  }
  return names;
}

function messageOf(thrown: unknown): string {
  const message = typeof thrown === 'string' ? thrown : valueAt(thrown, 'message');
  if (typeof message === 'string' && message !== '') return message;
  // An AggregateError often has no message, for example when a connection was refused at several addresses.
  const errors = valueAt(thrown, 'errors');
  if (Array.isArray(errors) && errors.length > 0) return errors.map(messageOf).join('; ');
  return isError(thrown) ? '' : `the handler threw ${inspect(thrown, { breakLength: Infinity })}`;
}

/** Stack frames in the runtime's own files do not help the user. CommonJS names them by path, ES modules by URL. */
const OWN_FOLDERS = [new URL('./', import.meta.url).href, `${import.meta.dirname}/`];

/** The stack, then the stacks of the errors inside an AggregateError and of the causes. */
export function tracebackOf(thrown: unknown, seen: ReadonlySet<unknown> = new Set()): string {
  if (!isError(thrown)) return inspect(thrown);
  if (seen.has(thrown)) return '(shown above)';
  const seenNow = new Set([...seen, thrown]);
  const stack = valueAt(thrown, 'stack');
  const text = typeof stack === 'string' ? stack : `${typeNamesOf(thrown).type}: ${messageOf(thrown)}`;
  const userLines = text.split('\n').filter((line) => !OWN_FOLDERS.some((folder) => line.includes(folder)));
  const errors = valueAt(thrown, 'errors');
  const related: [title: string, error: unknown][] = Array.isArray(errors)
    ? errors.map((error, index) => [`Inner error ${index + 1}: `, error])
    : [];
  const cause = valueAt(thrown, 'cause');
  if (cause !== undefined && cause !== null) related.push(['Caused by: ', cause]);
  return [userLines.join('\n'), ...related.map(([title, error]) => title + tracebackOf(error, seenNow))].join(
    '\n',
  );
}

function withCauses(thrown: unknown): unknown[] {
  const chain: unknown[] = [];
  for (let at = thrown; at !== undefined && at !== null && !chain.includes(at); at = valueAt(at, 'cause'))
    chain.push(at);
  return chain;
}

function isError(value: unknown): value is object {
  return value instanceof Error || Object.prototype.toString.call(value) === '[object Error]';
}

function isHttpStatus(value: unknown): value is number {
  return Number.isInteger(value) && (value as number) >= 100 && (value as number) <= 599;
}

function isDelay(value: unknown): value is number | string {
  return typeof value === 'string' || Number.isFinite(value);
}

function retryAfterIn(headers: unknown): unknown {
  if (typeof headers !== 'object' || headers === null) return undefined;
  const isIterable = Symbol.iterator in headers; // a Headers or a Map
  try {
    const pairs = isIterable ? [...(headers as Iterable<[unknown, unknown]>)] : Object.entries(headers);
    const found = pairs.find(([name]) => String(name).toLowerCase() === 'retry-after')?.[1];
    if (found !== undefined) return Array.isArray(found) ? found[0] : found;
    return 'get' in headers && typeof headers.get === 'function' ? headers.get('Retry-After') : undefined;
  } catch {
    return undefined;
  }
}
