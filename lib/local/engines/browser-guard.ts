import type { IncomingMessage, RequestListener, Server, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { excerpt } from '../../core/text/describe-value.ts';

/**
 * Keeps web pages away from servers on loopback. Every page that is open in a browser on this machine can send requests
 * to 127.0.0.1: forms and images need no preflight, and a page whose host name resolves to 127.0.0.1 (DNS rebinding)
 * can read the answers too. Browsers give themselves away: they send `Origin` with everything that a script or a form
 * sends to another origin, `Sec-Fetch-Site` with every request to loopback, and a page's own host name as `Host`.
 */
export interface GuardRules {
  /** The host names, without a port, under which the server may be reached. */
  readonly hostNames: readonly string[];
  /** Whether pages that the server itself delivered may call it. If not, no browser may. */
  readonly allowsOwnPages: boolean;
  readonly answer: (refusal: Refusal) => RefusalAnswer;
}

interface Refusal {
  /** What was refused, e.g. `the Origin header`. */
  readonly what: string;
  /** What came, fit to be shown: quoted, short, printable ASCII only. E.g. `is "https://evil.example"`. */
  readonly received: string;
  /** Where the server may be reached, e.g. `127.0.0.1:4566`. */
  readonly hosts: readonly string[];
}

interface RefusalAnswer {
  readonly contentType: string;
  readonly body: string;
}

const LOOPBACK = '127.0.0.1';

/** For servers that only programs use: no browser gets in, not even for an image or with an address typed by hand. */
export const PROGRAMS_ONLY: GuardRules = {
  hostNames: [LOOPBACK],
  allowsOwnPages: false,
  answer: ({ what, received, hosts }) => ({
    contentType: 'text/plain; charset=utf-8',
    body: `refused: ${what} ${received}; local engines serve programs on this machine at ${hosts[0]} only\n`,
  }),
};

/**
 * Refuses with 403 what the rules do not allow, before any listener of the server sees the request. Call it after all
 * `request` listeners were added and before the server listens.
 *
 * Other ways in stay closed by Node itself: without listeners of their own an upgrade is an ordinary request, and
 * `CONNECT`, an unknown `Expect`, HTTP/1.1 without a `Host` and what is not HTTP never become one.
 */
export function guardServer(server: Server, rules: GuardRules): void {
  let hosts: readonly string[] = [];
  let origins: readonly string[] = [];
  server.on('listening', () => {
    const { port } = server.address() as AddressInfo;
    hosts = rules.hostNames.flatMap((name) => hostsOf(name, port));
    origins = rules.allowsOwnPages ? hosts.map((host) => `http://${host}`) : [];
  });
  const listeners = server.listeners('request') as RequestListener[];
  server.removeAllListeners('request');

  /** A client may have sent more requests behind one that was refused. */
  const refused = new WeakSet<object>();

  function isRefused(request: IncomingMessage, response: ServerResponse): boolean {
    if (refused.has(request.socket)) return true;
    const found = foreignPart(request, rules, hosts, origins);
    if (found === undefined) return false;
    const { contentType, body } = rules.answer({ ...found, hosts });
    // The body is not read: nothing else may come through this connection.
    refused.add(request.socket);
    response.writeHead(403, {
      'content-type': contentType,
      'content-length': Buffer.byteLength(body),
      'cache-control': 'no-store',
      connection: 'close',
    });
    response.end(body);
    return true;
  }

  function pass(request: IncomingMessage, response: ServerResponse): void {
    for (const listener of listeners) listener.call(server, request, response);
  }

  server.on('request', (request, response) => {
    if (!isRefused(request, response)) pass(request, response);
  });
  // Without this listener Node asks for the body before `request` is emitted.
  server.on('checkContinue', (request, response) => {
    if (isRefused(request, response)) return;
    response.writeContinue();
    pass(request, response);
  });
}

/** Clients leave out HTTP's own port. */
function hostsOf(name: string, port: number): readonly string[] {
  return port === 80 ? [name, `${name}:80`] : [`${name}:${port}`];
}

type Found = Pick<Refusal, 'what' | 'received'>;

/**
 * By the raw headers, because `request.headers` hides a second `Host`. Every request of a mesh comes through here.
 *
 * `Sec-Fetch-Mode: cors` alone is not a browser: Node's own `fetch` sends it. Browsers send `Sec-Fetch-Site` with it.
 */
function foreignPart(
  { url = '', rawHeaders }: IncomingMessage,
  { allowsOwnPages }: GuardRules,
  hosts: readonly string[],
  origins: readonly string[],
): Found | undefined {
  // The absolute form names a host of its own, which would count instead of the header.
  if (!url.startsWith('/')) return { what: 'the request target', received: `is ${shownInAscii(url)}` };
  let hostCount = 0;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const value = rawHeaders[at + 1] ?? '';
    switch (rawHeaders[at]?.toLowerCase()) {
      case 'host':
        if (++hostCount > 1) return { what: 'the Host header', received: 'is there more than once' };
        if (!hosts.includes(value)) return headerFound('Host', value);
        break;
      case 'origin':
        if (!origins.includes(value)) return headerFound('Origin', value);
        break;
      case 'sec-fetch-site':
        if (!allowsOwnPages) return headerFound('Sec-Fetch-Site', value);
        break;
      case 'sec-fetch-mode':
        if (!allowsOwnPages && value !== 'cors') return headerFound('Sec-Fetch-Mode', value);
        break;
    }
  }
  return hostCount === 0 ? { what: 'the Host header', received: 'is missing' } : undefined;
}

function headerFound(name: string, value: string): Found {
  return { what: `the ${name} header`, received: `is ${shownInAscii(value)}` };
}

/** It is foreign input, and may end up on a terminal or in a log. */
function shownInAscii(text: string): string {
  const escaped = (one: string) => `\\u${one.charCodeAt(0).toString(16).padStart(4, '0')}`;
  return excerpt(JSON.stringify(text).replace(/[^\x20-\x7e]/g, escaped));
}
