import type { Context } from '../../../lib/handler/index.ts';
import { encodeResult } from '../json.ts';
import type { Envelope } from './call-info.ts';
import type { Call } from './context.ts';
import type { Handler } from './load-handler.ts';

/** What a handler returned: a value, or the items of a generator, which has not run yet. */
export type Returned =
  | { readonly kind: 'value'; readonly value: unknown }
  | { readonly kind: 'items'; readonly items: Iterable<unknown> | AsyncIterable<unknown> };

export async function callHandler(handler: Handler, payload: unknown, context: Context): Promise<Returned> {
  // `length` does not count parameters with a default: `(payload, threshold = 0.5)` does not expect a context.
  const value = await (handler.length > 1 ? handler(payload, context) : handler(payload));
  return isGenerator(value) ? { kind: 'items', items: value } : { kind: 'value', value };
}

/** For protocols with one answer: the items of a generator become an array; null if there is nothing to send on. */
export async function collectValue(returned: Returned): Promise<unknown> {
  if (returned.kind === 'value') return returned.value;
  const items: unknown[] = [];
  for await (const item of returned.items) items.push(item === undefined ? null : item);
  return items.length === 0 ? null : items;
}

/** For the envelope protocol: `{frames: [...]}`, one frame for each result; null if there is nothing to send on. */
export async function collectFrames(
  returned: Returned,
  call: Call,
  envelope: Envelope,
  isFanOut: boolean,
): Promise<unknown> {
  const frames: unknown[] = [];
  if (returned.kind === 'items') {
    for await (const item of returned.items) frames.push(envelopeFrame(item, call, envelope));
  } else if (returned.value !== undefined && returned.value !== null) {
    const values = isFanOut && Array.isArray(returned.value) ? returned.value : [returned.value];
    frames.push(...values.map((value) => envelopeFrame(value, call, envelope)));
  }
  return frames.length === 0 ? null : { frames };
}

/** One pair of the `asya:` protocol: a JSON head and a body. */
export interface Pair {
  readonly head: string;
  readonly body: string;
}

/**
 * For the `asya:` protocol: sends each yielded value as it is yielded, and returns the last pair. If `sendItem` returns
 * false, the connection is lost, and the generator is ended. Throws what the handler throws.
 */
export async function answerCall(
  handler: Handler,
  payload: unknown,
  call: Call,
  sendItem: (item: Pair) => Promise<boolean>,
): Promise<Pair> {
  const returned = await callHandler(handler, payload, call.context);
  if (returned.kind === 'value') {
    const { value } = returned;
    if (value === undefined || value === null) return EMPTY_END;
    return { head: headOf('end', call), body: encodeResult(value) };
  }
  for await (const item of returned.items) {
    const body = encodeResult(item === undefined ? null : item);
    if (!(await sendItem({ head: headOf('item', call), body }))) break;
  }
  return EMPTY_END;
}

const EMPTY_END: Pair = { head: '{"kind":"end"}', body: '' };

function headOf(kind: 'item' | 'end', call: Call): string {
  return JSON.stringify({ kind, ...call.changes() });
}

function isGenerator(value: unknown): value is Generator | AsyncGenerator {
  const kind = Object.prototype.toString.call(value);
  return kind === '[object Generator]' || kind === '[object AsyncGenerator]';
}

/** Reads the changes at each yield, so that a handler can send each item along its own route. */
function envelopeFrame(payload: unknown, call: Call, { route }: Envelope): unknown {
  const changes = call.changes();
  const [curr = '', ...next] = changes.next ?? route.next;
  return {
    payload: payload === undefined ? null : payload,
    route: { prev: [...route.prev, route.curr], curr, next },
    ...(changes.headers === undefined ? {} : { headers: changes.headers }),
  };
}

/** The HTTP header that carries a changed route in the payload protocol. */
export function routeHeader(next: readonly string[] | undefined): Readonly<Record<string, string>> {
  if (next === undefined) return {};
  // Printable ASCII without the comma, which separates the names.
  if (!next.every((name) => /^[!-+\--~]+$/.test(name)))
    throw new Error(`the handler set the route to ${encodeResult(next)}; expected an array of actor names`);
  return { 'x-asya-route-next': next.join(',') };
}
