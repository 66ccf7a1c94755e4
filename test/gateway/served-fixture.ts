import { createHash } from 'node:crypto';
import type { AddressInfo } from 'node:net';
import { serve } from '@hono/node-server';
import { apiKeyAuthentication } from '../../lib/adapters/http/api-keys.ts';
import { type HttpFace, type HttpFaceOptions, httpFace } from '../../lib/adapters/http/http-face.ts';
import { reportVerification } from '../../lib/adapters/http/verify-reports.ts';
import { checkInput } from '../../lib/adapters/json-schema/check-input.ts';
import { systemClock } from '../../lib/adapters/system/system.ts';
import { type FixtureOptions, type GatewayFixture, gatewayFixture } from './gateway-fixture.ts';

export const SECRET = 'a secret of the mesh, long enough to be one';
export const MY_KEY = 'asya_mine';
export const OTHER_KEY = 'asya_other';
export const NARROW_KEY = 'asya_narrow';
export const OLD_KEY = 'asya_old';

export function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

export const KEYS = [
  { id: 'me', sha256: sha256(MY_KEY) },
  { id: 'other', sha256: sha256(OTHER_KEY) },
  { id: 'narrow', sha256: sha256(NARROW_KEY), flows: ['endless'] },
  { id: 'old', sha256: sha256(OLD_KEY), expiresMs: 1 },
];

export interface ServedFixture extends GatewayFixture {
  readonly url: string;
  readonly face: HttpFace;
  /** Sends MY_KEY by default; an empty key sends none. */
  request(path: string, init?: RequestInit & { readonly key?: string | undefined }): Promise<Response>;
  post(path: string, body: unknown, headers?: Readonly<Record<string, string>>): Promise<Response>;
  close(): Promise<void>;
}

export async function serveGateway(
  changes: Partial<HttpFaceOptions> = {},
  options: Partial<FixtureOptions> = {},
): Promise<ServedFixture> {
  const clock = systemClock;
  const fixture = gatewayFixture({ clock, checkInput, ...options });
  const face = httpFace({
    gateway: fixture.gateway,
    authenticate: apiKeyAuthentication(KEYS, clock.now),
    verifyReports: reportVerification(SECRET, clock.now),
    clock,
    telemetry: fixture.telemetry,
    rate: { perSecond: 10_000, burst: 10_000 },
    keepAliveMs: 15_000,
    maxWaitMs: 60_000,
    ...changes,
  });
  const server = serve({ fetch: face.app.fetch, port: 0, hostname: '127.0.0.1' });
  await new Promise<void>((resolve) => server.once('listening', () => resolve()));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const request: ServedFixture['request'] = (path, { key = MY_KEY, ...init } = {}) => {
    const headers = new Headers(init.headers);
    if (key !== '') headers.set('authorization', `Bearer ${key}`);
    return fetch(`${url}${path}`, { ...init, headers });
  };
  return {
    ...fixture,
    url,
    face,
    request,
    post: (path, body, headers = {}) =>
      request(path, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...headers },
        body: typeof body === 'string' ? body : JSON.stringify(body),
      }),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        if ('closeAllConnections' in server) server.closeAllConnections();
      }),
  };
}

export interface ServerEvent {
  readonly id: number;
  readonly event: string;
  readonly data: {
    readonly state: string;
    readonly type: string;
    readonly seq: number;
    readonly actor?: string;
  };
}

/** The events of a stream until it ends, or the first `most` ones. */
export async function eventsOf(
  response: Response,
  most = Number.POSITIVE_INFINITY,
): Promise<readonly ServerEvent[]> {
  const events: ServerEvent[] = [];
  let text = '';
  for await (const chunk of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
    text += chunk;
    const blocks = text.split('\n\n');
    text = blocks.pop() ?? '';
    for (const block of blocks) {
      const field = (name: string) => new RegExp(`^${name}: (.*)$`, 'm').exec(block)?.[1];
      const data = field('data');
      if (data !== undefined)
        events.push({ id: Number(field('id')), event: field('event') ?? '', data: JSON.parse(data) });
    }
    if (events.length >= most) break;
  }
  return events;
}
