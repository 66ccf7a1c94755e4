import type { IncomingMessage, RequestListener, Server, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { excerpt } from '../../core/text/describe-value.ts';

/**
 * Rejects requests of web pages to servers on loopback. Every page that is open in a browser on this machine can send
 * requests to 127.0.0.1: forms and images need no preflight, and a page whose host name resolves to 127.0.0.1 (DNS
 * rebinding) can read the answers too. Headers identify browsers: they send `Origin` when a script or a form calls another
 * origin, `Sec-Fetch-Site` with every request to loopback, and the page's host name as `Host`.
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
  /** The received value: quoted, short, printable ASCII only. E.g. `is "https://evil.example"`. */
  readonly received: string;
  /** Where the server may be reached, e.g. `127.0.0.1:4566`. */
  readonly hosts: readonly string[];
}

interface RefusalAnswer {
  readonly contentType: string;
  readonly body: string;
}

const LOOPBACK = '127.0.0.1';

/** For servers that only programs use. Every request of a browser is rejected, even a typed address or an image. */
export const PROGRAMS_ONLY: GuardRules = {
  hostNames: [LOOPBACK],
  allowsOwnPages: false,
  answer: ({ what, received, hosts }) => ({
    contentType: 'text/plain; charset=utf-8',
    body: `refused: ${what} ${received}; local engines serve programs on this machine at ${hosts[0]} only\n`,
  }),
};

/**
 * Answers requests that the rules do not allow with 403, before any listener of the server sees them. Call it after all
 * `request` listeners were added and before the server listens.
 *
 * Node itself handles the other cases. Without an `upgrade` listener, an upgrade is an ordinary request. `CONNECT`, an
 * unknown `Expect`, HTTP/1.1 without a `Host` and data that is not HTTP never become a request.
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

  /** Sockets of refused requests, because a client may have pipelined more requests. */
  const refused = new WeakSet<object>();

  function isRefused(request: IncomingMessage, response: ServerResponse): boolean {
    if (refused.has(request.socket)) return true;
    const found = foreignPart(request, rules, hosts, origins);
    if (found === undefined) return false;
    const { contentType, body } = rules.answer({ ...found, hosts });
    // The body is not read, so the connection cannot be used for further requests.
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

/** Clients omit HTTP's default port. */
function hostsOf(name: string, port: number): readonly string[] {
  return port === 80 ? [name, `${name}:80`] : [`${name}:${port}`];
}

type Found = Pick<Refusal, 'what' | 'received'>;

/**
 * Checks the raw headers, because `request.headers` hides a second `Host`.
 *
 * `Sec-Fetch-Mode: cors` does not identify a browser, because Node's `fetch` sends it too. Browsers also send
 * `Sec-Fetch-Site`.
 */
function foreignPart(
  { url = '', rawHeaders }: IncomingMessage,
  { allowsOwnPages }: GuardRules,
  hosts: readonly string[],
  origins: readonly string[],
): Found | undefined {
  // A target in absolute form contains a host, which would override the header.
  if (!url.startsWith('/')) return { what: 'the request target', received: `is ${shownInAscii(url)}` };
  let hostCount = 0;
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const value = rawHeaders[index + 1] ?? '';
    switch (rawHeaders[index]?.toLowerCase()) {
      case 'host':
        if (++hostCount > 1) return { what: 'the Host header', received: 'is present more than once' };
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

/** Escapes the input, because it may be printed to a terminal or a log. */
function shownInAscii(text: string): string {
  const escaped = (one: string) => `\\u${one.charCodeAt(0).toString(16).padStart(4, '0')}`;
  return excerpt(JSON.stringify(text).replace(/[^\x20-\x7e]/g, escaped));
}
