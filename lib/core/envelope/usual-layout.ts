import { skipString, skipValue } from '../text/json-scan.ts';
import type { JsonText } from '../text/json-text.ts';

/** The members of an envelope that this version knows, each as its JSON text. */
export interface EnvelopeTexts {
  readonly id: JsonText | undefined;
  readonly parentId: JsonText | undefined;
  readonly route: JsonText | undefined;
  readonly headers: JsonText | undefined;
  readonly payload: JsonText | undefined;
  readonly status: JsonText | undefined;
}

const ID = '{"id":"';
const PARENT_ID = ',"parent_id":"';
const ROUTE = ',"route":{';
const HEADERS = ',"headers":{';
const PAYLOAD = ',"payload":';
const STATUS = ',"status":{';

/**
 * Splits a body in the layout that `encode` writes, which almost every body has, without scanning route, headers and
 * status: they are not valid JSON until the caller has parsed them. Undefined for any other layout.
 *
 * Route and headers are cut at the first `}`, which may be wrong. But if every part turns out to be valid JSON, then so is
 * the body, and JSON can be split in one way only: the cuts were right.
 */
export function splitUsualLayout(body: string): EnvelopeTexts | undefined {
  if (!body.startsWith(ID) || !body.endsWith('}')) return undefined;
  const idEnd = skipString(body, ID.length - 1);
  if (idEnd < 0) return undefined;
  const parentAt = body.startsWith(PARENT_ID, idEnd) ? idEnd + PARENT_ID.length - 1 : undefined;
  const parentEnd = parentAt === undefined ? idEnd : skipString(body, parentAt);
  if (parentEnd < 0 || !body.startsWith(ROUTE, parentEnd)) return undefined;
  const routeEnd = body.indexOf('}', parentEnd) + 1;
  if (!body.startsWith(HEADERS, routeEnd)) return undefined;
  const headersEnd = body.indexOf('}', routeEnd) + 1;
  if (!body.startsWith(PAYLOAD, headersEnd)) return undefined;
  const payloadAt = headersEnd + PAYLOAD.length;
  const payloadEnd = skipValue(body, payloadAt);
  const end = body.length - 1;
  const hasStatus = payloadEnd > 0 && body.startsWith(STATUS, payloadEnd);
  if (!hasStatus && payloadEnd !== end) return undefined;
  const part = (from: number, to: number) => body.slice(from, to) as JsonText;
  return {
    id: part(ID.length - 1, idEnd),
    parentId: parentAt === undefined ? undefined : part(parentAt, parentEnd),
    route: part(parentEnd + ROUTE.length - 1, routeEnd),
    headers: part(routeEnd + HEADERS.length - 1, headersEnd),
    payload: part(payloadAt, payloadEnd),
    status: hasStatus ? part(payloadEnd + STATUS.length - 1, end) : undefined,
  };
}
