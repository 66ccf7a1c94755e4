import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface HealthServerOptions {
  readonly host?: string;
  readonly port: number;
  /** Undefined: alive. Otherwise why the platform should start it again. */
  readonly liveness: () => string | undefined;
  /** Undefined: ready for work. Otherwise what is missing. */
  readonly readiness: () => Promise<string | undefined>;
  readonly metrics: () => Promise<{ readonly text: string; readonly contentType: string }>;
}

export interface HealthServer {
  readonly port: number;
  close(): Promise<void>;
}

type Answer = readonly [status: number, contentType: string, text: string];

const PLAIN = 'text/plain; charset=utf-8';

/** `/healthz`, `/readyz` and `/metrics`. */
export async function healthServer(options: HealthServerOptions): Promise<HealthServer> {
  const server = createServer(async (request, response) => {
    const [status, contentType, text] = await answer(request.url ?? '', options);
    response.writeHead(status, { 'content-type': contentType }).end(text);
  });
  await listening(server, options);
  return {
    port: (server.address() as AddressInfo).port,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

async function answer(url: string, options: HealthServerOptions): Promise<Answer> {
  switch (url.split('?')[0]) {
    case '/healthz':
      return health(options.liveness());
    case '/readyz':
      return health(await options.readiness());
    case '/metrics': {
      const { text, contentType } = await options.metrics();
      return [200, contentType, text];
    }
    default:
      return [404, PLAIN, 'there are /healthz, /readyz and /metrics\n'];
  }
}

function health(problem: string | undefined): Answer {
  return problem === undefined ? [200, PLAIN, 'ok\n'] : [503, PLAIN, `${problem}\n`];
}

function listening(server: Server, { host, port }: HealthServerOptions): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, () => {
      server.off('error', reject);
      resolve();
    });
  });
}
