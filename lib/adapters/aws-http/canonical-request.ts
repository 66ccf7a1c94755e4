/** A request as far as its signature covers it. */
export interface SignableRequest {
  readonly method: string;
  /** As it is sent, with its `/` at the start and without the query. */
  readonly path: string;
  /** Decoded names and values. @default no query */
  readonly query?: Readonly<Record<string, string | readonly string[]>>;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
}

/** Proxies and connections change these, so they are not signed. The same list as in the AWS SDK. */
const UNSIGNED = new Set([
  'authorization',
  'cache-control',
  'connection',
  'expect',
  'from',
  'keep-alive',
  'max-forwards',
  'pragma',
  'referer',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'user-agent',
  'x-amzn-trace-id',
]);

/** The text whose hash is signed, and the names of the headers in it. */
export function canonicalRequest(
  { method, path, query = {}, headers }: Omit<SignableRequest, 'body'>,
  bodyHash: string,
): { readonly text: string; readonly signedHeaders: string } {
  const canonical = canonicalHeaders(headers);
  const signedHeaders = canonical.map(([name]) => name).join(';');
  const lines = canonical.map(([name, value]) => `${name}:${value}\n`).join('');
  const text = `${method}\n${canonicalPath(path)}\n${canonicalQuery(query)}\n${lines}\n${signedHeaders}\n${bodyHash}`;
  return { text, signedHeaders };
}

function canonicalHeaders(headers: SignableRequest['headers']): readonly (readonly [string, string])[] {
  const canonical = new Map<string, string>();
  for (const name of Object.keys(headers).sort()) {
    const lower = name.toLowerCase();
    if (UNSIGNED.has(lower) || /^(proxy|sec)-/.test(lower)) continue;
    const value = headers[name] ?? '';
    canonical.set(
      lower,
      value
        .replace(/[\r\n]/g, ' ')
        .replace(/[ \t]+/g, ' ')
        .replace(/^ | $/g, ''),
    );
  }
  return [...canonical].sort(([one], [other]) => (one < other ? -1 : 1));
}

/** Without empty and relative segments, and encoded once more. */
function canonicalPath(path: string): string {
  if (path === '/') return path;
  const segments: string[] = [];
  for (const segment of path.split('/')) {
    if (segment === '..') segments.pop();
    else if (segment !== '' && segment !== '.') segments.push(escaped(segment));
  }
  const end = segments.length > 0 && path.endsWith('/') ? '/' : '';
  return `/${segments.join('/')}${end}`;
}

function canonicalQuery(query: NonNullable<SignableRequest['query']>): string {
  return Object.entries(query)
    .filter(([name]) => name.toLowerCase() !== 'x-amz-signature')
    .map(([name, value]): readonly [string, string] => {
      const key = escaped(name);
      const values = typeof value === 'string' ? [value] : value;
      return [
        key,
        values
          .map((one) => `${key}=${escaped(one)}`)
          .sort()
          .join('&'),
      ];
    })
    .filter(([, text]) => text !== '')
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map(([, text]) => text)
    .join('&');
}

/** RFC 3986: `encodeURIComponent` leaves a few characters that AWS expects encoded. */
function escaped(text: string): string {
  return encodeURIComponent(text).replace(
    /[!'()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}
