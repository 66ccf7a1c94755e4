import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';

export interface RefusedRequest {
  readonly status: 401 | 403 | 404 | 405;
  readonly code: string;
  /** What was received, without the token. */
  readonly message: string;
}

export interface ExpectedRequest {
  readonly path: string;
  readonly token: string;
  /** `127.0.0.1:PORT` */
  readonly host: string;
}

/** Headers that browsers send and SDKs do not. `Sec-Fetch-Mode` is not one of them: Node's `fetch` sends it. */
const BROWSER_HEADERS = ['origin', 'sec-fetch-site', 'referer'] as const;

/**
 * Why a request gets no credentials, or undefined. Everything on this machine can connect to the port: other users'
 * processes, and web pages in a browser, also under a host name of their own that resolves to 127.0.0.1.
 */
export function refusalOf(
  { method, url, headers, rawHeaders }: IncomingMessage,
  { path, token, host }: ExpectedRequest,
): RefusedRequest | undefined {
  const hostCount = rawHeaders.filter((name, index) => index % 2 === 0 && /^host$/i.test(name)).length;
  if (headers.host !== host || hostCount !== 1)
    return { status: 403, code: 'Forbidden', message: `the Host header is not "${host}"` };
  const browserHeader = BROWSER_HEADERS.find((name) => headers[name] !== undefined);
  if (browserHeader !== undefined)
    return {
      status: 403,
      code: 'Forbidden',
      message: `the request has the header "${browserHeader}", so it comes from a browser`,
    };
  if (headers.authorization === undefined)
    return { status: 401, code: 'Unauthorized', message: 'the request has no token' };
  if (!isEqual(headers.authorization, token))
    return { status: 401, code: 'Unauthorized', message: 'the token is wrong' };
  if (url !== path) return { status: 404, code: 'NotFound', message: `the only path is ${path}` };
  if (method !== 'GET') return { status: 405, code: 'MethodNotAllowed', message: 'the only method is GET' };
  return undefined;
}

/** In constant time. Digests have the same length, whatever was received. */
function isEqual(received: string, expected: string): boolean {
  const digest = (text: string) => createHash('sha256').update(text).digest();
  return timingSafeEqual(digest(received), digest(expected));
}
