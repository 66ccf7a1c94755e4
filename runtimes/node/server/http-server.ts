import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { BadRequest } from '../bad-request.ts';
import { errorObjectFrom } from '../error-object.ts';
import type { HandlerHost, Reply } from './handler-host.ts';

/** The HTTP protocol: `POST` to the handler's path is a call, `GET /healthz` is the readiness check. */
export function createHttpServer(host: HandlerHost): Server {
  // An import would load an HTTP client as well, for the names that it exports.
  const { createServer } = process.getBuiltinModule('node:http');
  const server = createServer((request, response) => void serveRequest(host, request, response));
  // The sidecar keeps its connections open. If this side closed an idle one, the next call on it would be lost.
  server.keepAliveTimeout = 0;
  return server;
}

async function serveRequest(
  host: HandlerHost,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const { path: invokePath, maxRequestBytes } = host.settings;
  const path = (request.url ?? '/').split('?')[0] ?? '/';
  const method = new Map([
    ['/healthz', 'GET'],
    [invokePath, 'POST'],
  ]).get(path);
  const refuse = (status: number, code: string, message: string): void =>
    send(response, { status, body: JSON.stringify(errorObjectFrom(new BadRequest(message), code)) });
  const refuseAndClose = (status: number, code: string, message: string): void => {
    response.setHeader('connection', 'close');
    refuse(status, code, message);
  };
  const body = await readBody(request, maxRequestBytes);
  if (body === 'disconnected') return;
  if (body === 'too-large')
    return refuseAndClose(
      413,
      'too_large',
      `the request body is larger than ASYA_RUNTIME_MAX_REQUEST (${maxRequestBytes} bytes)`,
    );
  if (method === undefined)
    return refuse(404, 'not_found', `no such path: ${path}; the handler is at ${invokePath}`);
  if (request.method !== method) {
    response.setHeader('allow', method);
    return refuse(405, 'method_not_allowed', `${path} accepts ${method}, not ${request.method}`);
  }
  if (method === 'GET') return send(response, { status: 200, body: '{"status":"ready"}' });
  if (!host.begin())
    return refuseAndClose(503, 'stopping', 'the runtime is stopping; send the request again');
  const reply = await host.answer(body, request.headers);
  if (response.destroyed) return host.finish(); // the client disconnected
  response.once('close', () => host.finish());
  send(response, reply);
}

async function readBody(
  request: IncomingMessage,
  maxBytes: number,
): Promise<Buffer | 'too-large' | 'disconnected'> {
  const chunks: Buffer[] = [];
  let size = 0;
  try {
    for await (const chunk of request.iterator({ destroyOnReturn: false })) {
      chunks.push(chunk);
      size += chunk.length;
      if (size > maxBytes) return 'too-large';
    }
  } catch {
    return 'disconnected';
  }
  return Buffer.concat(chunks);
}

function send(response: ServerResponse, { status, body, headers }: Reply): void {
  const bodyHeaders =
    status === 204 ? {} : { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) };
  response.writeHead(status, { ...headers, ...bodyHeaders });
  response.end(status === 204 ? undefined : body);
}
