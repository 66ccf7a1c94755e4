import { inspect } from 'node:util';

/** What a thrown value is to the mesh's rules. */
export interface ErrorObject {
  readonly error: string;
  readonly message: string;
  readonly type: string;
  readonly mro: readonly string[];
  readonly traceback: string;
  readonly http_status?: number;
  readonly retry_after?: number | string;
}

/** Where the usual HTTP clients keep what a rule can use. */
const STATUS_PLACES = [
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
const RETRY_AFTER_PLACES = ['retry_after', 'retryAfter', 'response.retry_after', 'response.retryAfter'];
const HEADER_PLACES = ['response.headers', 'headers', '$response.headers'];

export function errorObjectFrom(thrown: unknown, code = 'processing_error'): ErrorObject {
  const chain = withCauses(thrown);
  const look = (places: readonly string[]): unknown[] =>
    chain.flatMap((one) => places.map((place) => lookAt(one, place)));
  const httpStatus = look(STATUS_PLACES).find(isHttpStatus);
  const retryAfter = [...look(RETRY_AFTER_PLACES), ...look(HEADER_PLACES).map(retryAfterIn)].find(isDelay);
  const { type, mro } = namesOf(thrown);
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

/** The whole chain, the class itself first and `Exception` last, so that one catch-all works in both languages. */
function namesOf(thrown: unknown): { type: string; mro: readonly string[] } {
  const classes = classNames(thrown);
  // A name that no class of its own has says more than the class: AbortError is a DOMException.
  const name = lookAt(thrown, 'name');
  const isTelling = typeof name === 'string' && name !== '' && !classes.includes(name);
  const named = isTelling ? [name, ...classes] : classes;
  const chain = named.length === 0 ? ['ThrownValue'] : named;
  const withError = chain.includes('Error') ? chain : [...chain, 'Error'];
  return { type: withError[0] ?? '', mro: [...withError, 'Exception'] };
}

function classNames(value: unknown): string[] {
  if (typeof value !== 'object' || value === null) return [];
  const names: string[] = [];
  for (let at = Object.getPrototypeOf(value); at !== null; at = Object.getPrototypeOf(at)) {
    const name = Object.hasOwn(at, 'constructor') ? lookAt(at, 'constructor.name') : undefined;
    if (typeof name === 'string' && name !== '' && name !== 'Object') names.push(name);
  }
  return names;
}

function messageOf(thrown: unknown): string {
  const message = typeof thrown === 'string' ? thrown : lookAt(thrown, 'message');
  if (typeof message === 'string' && message !== '') return message;
  // A connection refused at several addresses has no message of its own.
  const errors = lookAt(thrown, 'errors');
  if (Array.isArray(errors) && errors.length > 0) return errors.map(messageOf).join('; ');
  return isError(thrown) ? '' : `the handler threw ${inspect(thrown, { breakLength: Infinity })}`;
}

/** This runtime's own frames tell the user nothing. */
const OURS = ['asya-runtime.ts', 'load-handler.ts', 'error-object.ts'].map(
  (file) => `${new URL(file, import.meta.url)}:`,
);

/** The stack, then those of the errors it is made of and of its causes. */
export function tracebackOf(thrown: unknown, seen: ReadonlySet<unknown> = new Set()): string {
  if (!isError(thrown)) return inspect(thrown);
  if (seen.has(thrown)) return '(told above)';
  const known = new Set([...seen, thrown]);
  const stack = lookAt(thrown, 'stack');
  const text = typeof stack === 'string' ? stack : `${namesOf(thrown).type}: ${messageOf(thrown)}`;
  const own = text.split('\n').filter((line) => !OURS.some((file) => line.includes(file)));
  const errors = lookAt(thrown, 'errors');
  const parts: [string, unknown][] = Array.isArray(errors)
    ? errors.map((one, at) => [`Error ${at + 1} in it: `, one])
    : [];
  const cause = lookAt(thrown, 'cause');
  if (cause !== undefined && cause !== null) parts.push(['Caused by: ', cause]);
  return [own.join('\n'), ...parts.map(([title, one]) => title + tracebackOf(one, known))].join('\n');
}

function withCauses(thrown: unknown): unknown[] {
  const chain: unknown[] = [];
  for (let at = thrown; at !== undefined && at !== null && !chain.includes(at); at = lookAt(at, 'cause'))
    chain.push(at);
  return chain;
}

function isError(value: unknown): value is object {
  return value instanceof Error || Object.prototype.toString.call(value) === '[object Error]';
}

/** Undefined also where a getter throws: it must not hide the error it hangs on. */
export function lookAt(source: unknown, path: string): unknown {
  try {
    return path
      .split('.')
      .reduce<unknown>(
        (at, name) => (at === undefined || at === null ? undefined : Reflect.get(Object(at), name)),
        source,
      );
  } catch {
    return undefined;
  }
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
