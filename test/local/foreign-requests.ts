import type { RawRequest } from '../support/raw-request.ts';

/** Changes a request that a server on this machine accepts into one that a browser could send. */
export interface ForeignRequest {
  readonly what: string;
  change(request: RawRequest, host: string): RawRequest;
}

const EVIL = 'https://evil.example';

function adding(what: string, ...headers: readonly (readonly [string, string])[]): ForeignRequest {
  return { what, change: (request) => ({ ...request, headers: [...request.headers, ...headers] }) };
}

function withHost(what: string, ...hosts: readonly ((host: string) => string)[]): ForeignRequest {
  return {
    what,
    change: (request, host) => ({
      ...request,
      headers: [
        ...hosts.map((of) => ['Host', of(host)] as const),
        ...request.headers.filter(([name]) => name !== 'Host'),
      ],
    }),
  };
}

const portOf = (host: string) => host.slice(host.indexOf(':'));

/** Refused by every server of a local mesh. */
export const FOREIGN_EVERYWHERE: readonly ForeignRequest[] = [
  adding('a foreign Origin', ['Origin', EVIL]),
  adding('a foreign Origin in lower case', ['origin', EVIL]),
  adding('an opaque Origin', ['Origin', 'null']),
  adding('an empty Origin', ['Origin', '']),
  adding('the Origin of another port', ['Origin', 'http://127.0.0.1:1']),
  withHost('a foreign Host', (host) => `evil.example${portOf(host)}`),
  withHost('the Host of another port', () => '127.0.0.1:1'),
  withHost('a Host without its port', () => '127.0.0.1'),
  withHost('a Host that begins like its own', (host) => `127.0.0.1.evil.example${portOf(host)}`),
  withHost(
    'two Hosts, its own first',
    (host) => host,
    (host) => `evil.example${portOf(host)}`,
  ),
  withHost(
    'two Hosts, its own last',
    (host) => `evil.example${portOf(host)}`,
    (host) => host,
  ),
  {
    what: 'an absolute address',
    change: (request) => ({ ...request, target: `http://evil.example${request.target ?? '/'}` }),
  },
  {
    what: 'HTTP/1.0 without a Host',
    change: (request) => ({
      ...request,
      version: '1.0',
      headers: request.headers.filter(([name]) => name !== 'Host'),
    }),
  },
  {
    what: 'a preflight',
    change: (request) => ({
      ...request,
      method: 'OPTIONS',
      headers: [
        ...request.headers.filter(([name]) => name === 'Host'),
        ['Origin', EVIL],
        ['Access-Control-Request-Method', request.method ?? 'GET'],
        ['Access-Control-Request-Headers', 'content-type,x-amz-target'],
      ],
    }),
  },
];

/** Also refused by servers for programs only. */
export const FROM_ANY_BROWSER: readonly ForeignRequest[] = [
  {
    what: 'its own Origin',
    change: (request, host) => ({ ...request, headers: [...request.headers, ['Origin', `http://${host}`]] }),
  },
  withHost('localhost as its Host', (host) => `localhost${portOf(host)}`),
  adding(
    'the headers of an image on a foreign page',
    ['Sec-Fetch-Site', 'cross-site'],
    ['Sec-Fetch-Mode', 'no-cors'],
  ),
  adding('the headers of a typed address', ['Sec-Fetch-Site', 'none'], ['Sec-Fetch-Mode', 'navigate']),
  adding('Sec-Fetch-Mode without Sec-Fetch-Site', ['Sec-Fetch-Mode', 'no-cors']),
];
