import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface HealthServerOptions {
  readonly host?: string;
  readonly port: number;
  /** Undefined if the process is alive, otherwise why the platform should restart it. */
  readonly liveness: () => string | undefined;
  /** Undefined if the process is ready for work, otherwise the reason why not. */
  readonly readiness: () => Promise<string | undefined>;
  readonly metrics: () => Promise<{ readonly text: string; readonly contentType: string }>;
}

export interface HealthServer {
  readonly port: number;
  close(): Promise<void>;
}

type HealthResponse = readonly [status: number, contentType: string, text: string];

const PLAIN = 'text/plain; charset=utf-8';

/** Serves `/healthz`, `/readyz` and `/metrics`. */
export async function healthServer(options: HealthServerOptions): Promise<HealthServer> {
  const server = createServer(async (request, response) => {
    const [status, contentType, text] = await responseTo(request.url ?? '', options);
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

async function responseTo(url: string, options: HealthServerOptions): Promise<HealthResponse> {
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
      return [404, PLAIN, 'not found; available: /healthz, /readyz, /metrics\n'];
  }
}

function health(problem: string | undefined): HealthResponse {
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
