import { encodeResult } from '../json.ts';
import { type Envelope, type HandlerContext, isStringArray } from './context.ts';
import type { Handler } from './load-handler.ts';

/**
 * Calls the handler and returns the value of the answer; null or undefined if there is nothing to send on. The items of
 * a generator become an array. In the envelope protocol the value is `{frames: [...]}`, one frame for each result.
 */
export async function callHandler(
  handler: Handler,
  payload: unknown,
  context: HandlerContext,
  isFanOut: boolean,
): Promise<unknown> {
  const { envelope } = context;
  const toItem = (value: unknown): unknown => {
    if (envelope !== undefined) return envelopeFrame(value, context, envelope);
    return value === undefined ? null : value;
  };
  // `length` does not count parameters with a default: `(payload, threshold = 0.5)` does not expect a context.
  const value = await (handler.length > 1 ? handler(payload, context) : handler(payload));
  const items: unknown[] = [];
  if (isAsyncGenerator(value)) for await (const item of value) items.push(toItem(item));
  else if (isGenerator(value)) for (const item of value) items.push(toItem(item));
  else if (envelope === undefined || value === undefined || value === null) return value;
  // In the payload protocol the sidecar splits an array; in the envelope protocol this runtime does.
  else items.push(...(isFanOut && Array.isArray(value) ? value : [value]).map(toItem));
  if (items.length === 0) return null;
  return envelope === undefined ? items : { frames: items };
}

function isGenerator(value: unknown): value is Generator {
  return Object.prototype.toString.call(value) === '[object Generator]';
}

function isAsyncGenerator(value: unknown): value is AsyncGenerator {
  return Object.prototype.toString.call(value) === '[object AsyncGenerator]';
}

/** Reads the context at each yield, so that a handler can send each item along its own route. */
function envelopeFrame(
  payload: unknown,
  context: HandlerContext,
  { route, headers = {} }: Envelope,
): unknown {
  const [curr = '', ...next] = actorNamesFrom(context.routeNext);
  const isSame = encodeResult(context.headers) === encodeResult(headers);
  return {
    payload: payload === undefined ? null : payload,
    route: { prev: [...route.prev, route.curr], curr, next },
    ...(isSame ? {} : { headers: { ...context.headers } }),
  };
}

/** The HTTP header that carries a changed route in the payload protocol. Throws if the handler set an invalid route. */
export function routeHeader(context: HandlerContext, isHttp: boolean): Readonly<Record<string, string>> {
  if (context.envelope !== undefined || context.routeNext === undefined) return {};
  const names = actorNamesFrom(context.routeNext);
  if (!isHttp) {
    throw new Error(
      'the handler set routeNext, but over a socket only the envelope protocol supports it; ' +
        'set ASYA_RUNTIME_PROTOCOL=envelope, or set ASYA_RUNTIME_URL to an http URL',
    );
  }
  // Printable ASCII without the comma, which separates the names.
  if (!names.every((name) => /^[!-+\--~]+$/.test(name)))
    throw new Error(
      `the handler set routeNext to ${JSON.stringify(names)}; expected an array of actor names`,
    );
  return { 'x-asya-route-next': names.join(',') };
}

function actorNamesFrom(routeNext: unknown): readonly string[] {
  if (isStringArray(routeNext)) return routeNext;
  const shown = JSON.stringify(routeNext);
  throw new TypeError(`the handler set routeNext to ${shown}; expected an array of actor names`);
}
