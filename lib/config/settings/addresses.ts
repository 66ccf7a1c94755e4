import { type Kind, url } from './kinds.ts';

/** How the runtime is called. */
export type RuntimeAddress =
  /** Over descriptors that a bundled runtime inherits from the sidecar. It has no URL: it is the default. */
  | { readonly kind: 'inherited' }
  /** `asya`: the protocol of the bundled runtimes. `socket`: one frame each way. */
  | { readonly kind: 'asya' | 'socket'; readonly path: string }
  | { readonly kind: 'http'; readonly url: string }
  | { readonly kind: 'http-over-socket'; readonly path: string; readonly resource: string };

const RUNTIME_URL_RULE =
  'expected "asya:/tmp/sockets/app.sock", "unix:/tmp/sockets/app.sock", ' +
  '"http://127.0.0.1:8080/invoke" or "http+unix:/tmp/sockets/app.sock:/invoke"';

export const runtimeAddress: Kind<RuntimeAddress> = {
  takes: '`asya:/path`, `unix:/path`, `http://host:port/path` or `http+unix:/path:/resource`',
  read: (text) => {
    const [, scheme, socket] = /^(asya|unix):(\/.+)$/.exec(text) ?? [];
    if (socket !== undefined) return { value: { kind: scheme === 'asya' ? 'asya' : 'socket', path: socket } };
    const [, path, resource] = /^http\+unix:(\/[^:]+):(\/.*)$/.exec(text) ?? [];
    if (path !== undefined && resource !== undefined)
      return { value: { kind: 'http-over-socket', path, resource } };
    const isHttp = /^https?:$/.test(URL.canParse(text) ? new URL(text).protocol : '');
    return isHttp ? { value: { kind: 'http', url: text } } : { problem: RUNTIME_URL_RULE };
  },
  write: (address) => {
    switch (address.kind) {
      case 'inherited':
        return 'inherited descriptors';
      case 'asya':
        return `asya:${address.path}`;
      case 'socket':
        return `unix:${address.path}`;
      case 'http':
        return address.url;
      case 'http-over-socket':
        return `http+unix:${address.path}:${address.resource}`;
    }
  },
};

export interface ListenAddress {
  /** Undefined: all interfaces. */
  readonly host?: string;
  readonly port: number;
}

/** `:9090` or `127.0.0.1:9090`. An empty value switches the server off. */
export const listenAddress: Kind<ListenAddress | undefined> = {
  takes: '`:port` or `host:port`',
  read: (text) => {
    if (text === '') return { value: undefined };
    const [, host = '', digits = ''] = /^(.*):(\d{1,5})$/.exec(text) ?? [];
    const port = Number(digits);
    if (digits === '' || port > 65_535)
      return { problem: 'expected ":9090" or "127.0.0.1:9090"; an empty value turns it off' };
    return { value: host === '' ? { port } : { host, port } };
  },
  write: (address) => (address === undefined ? '' : `${address.host ?? ''}:${address.port}`),
};

/** Address of another server. */
export const hostAndPort: Kind<string> = {
  takes: '`host:port`',
  read: (text) => {
    const [, digits = ''] = /^[^\s:/]+:(\d{1,5})$/.exec(text) ?? [];
    const port = Number(digits);
    return port >= 1 && port <= 65_535
      ? { value: text }
      : { problem: 'expected host:port, such as "127.0.0.1:8085"' };
  },
  write: (text) => text,
};

const HTTPS = url('https', 'http');

/** URL of the keys that verify tokens. Anyone who can replace the keys on the way can sign any token. */
export const keysUrl: Kind<string> = {
  takes: 'a URL (`https:`; `http:` on this machine)',
  read: (text) => {
    const reading = HTTPS.read(text);
    if ('problem' in reading || /^https:/i.test(text) || isOnThisMachine(text)) return reading;
    return {
      problem: 'expected an "https:" URL, because keys fetched over plain HTTP could be replaced in transit',
    };
  },
  write: (text) => text,
};

/** Local engines do not check credentials, and traffic to them does not leave the machine. */
export function isOnThisMachine(endpoint: string | undefined): boolean {
  const host = endpoint === undefined ? '' : new URL(endpoint).hostname;
  return host === 'localhost' || host === '[::1]' || /^127\./.test(host);
}
