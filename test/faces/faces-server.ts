import type { AddressInfo } from 'node:net';
import { type ServerType, serve } from '@hono/node-server';
import { type Context, Hono } from 'hono';
import { a2aFace } from '../../lib/adapters/a2a/a2a-face.ts';
import { mcpFace } from '../../lib/adapters/mcp/mcp-face.ts';
import type { Caller } from '../../lib/app/gateway/gateway.ts';
import { type FakeGateway, fakeGateway } from './fake-gateway.ts';

export interface FacesServer {
  readonly url: string;
  readonly gateway: FakeGateway;
  /** The errors passed to `onBug`. */
  readonly bugs: unknown[];
  stop(): Promise<void>;
}

const about = { name: 'fake', description: 'A mesh for tests', version: '1.2.3' };

/** Both faces on one port. The bearer token is the caller's id, optionally followed by a colon and its flows. */
export async function startFaces(options: { readonly maxWaitMs?: number } = {}): Promise<FacesServer> {
  const gateway = fakeGateway();
  const bugs: unknown[] = [];
  const onBug = (error: unknown) => void bugs.push(error);
  const shared = { gateway, about, onBug, keepAliveMs: 5, ...options };
  const mcp = mcpFace({ ...shared, allowedOrigins: ['https://good.example'] });
  const a2a = a2aFace(shared);
  const app = new Hono();
  app.all('/mcp', (context) => mcp(context.req.raw, callerOf(context)));
  app.all('/a2a', (context) => a2a.handle(context.req.raw, callerOf(context)));
  app.get('/.well-known/agent-card.json', (context) => a2a.card(context.req.raw));
  const server = await new Promise<ServerType>((resolve) => {
    const started = serve({ fetch: app.fetch, port: 0, hostname: '127.0.0.1' }, () => resolve(started));
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    gateway,
    bugs,
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        if ('closeAllConnections' in server) server.closeAllConnections();
      }),
  };
}

export function bearer(name: string): Record<string, string> {
  return { authorization: `Bearer ${name}` };
}

function callerOf({ req }: Context): Caller {
  const [id = '', flows] = (req.header('authorization') ?? '').replace('Bearer ', '').split(':');
  return flows === undefined ? { id } : { id, flows: flows.split(',') };
}
