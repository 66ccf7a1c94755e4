import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { IncomingMessage, ServerResponse } from 'node:http';

/** A request that an HTTP server of this process has answered. */
export interface Answered {
  readonly service: 'SQS' | 'DynamoDB' | 'S3' | 'gateway';
  /** The service's own name of the operation, e.g. `SendMessageBatch`. */
  readonly operation: string;
  readonly status: number;
  readonly body: string;
  /** Size of the answer's body. */
  readonly answerBytes: number;
}

/** The client of the benchmark itself has this in its user agent. Its requests are not counted. */
export const OWN_CLIENT = 'asya-bench';

interface ServerEvent {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
}

/**
 * Calls back for each answered request to a server of this process. It listens to Node's own events, so that nothing
 * changes for the servers. Returns a function that ends it.
 */
export function onAnswered(gatewayUrl: string, callback: (answered: Answered) => void): () => void {
  const bodies = new WeakMap<IncomingMessage, string[]>();
  const sizes = new WeakMap<ServerResponse, number>();

  const onStart = (event: unknown) => {
    const { request, response } = event as ServerEvent;
    const chunks: string[] = [];
    bodies.set(request, chunks);
    const push = request.push.bind(request);
    request.push = (chunk: unknown, encoding?: BufferEncoding) => {
      if (chunk !== null) chunks.push(Buffer.from(chunk as Uint8Array).toString('latin1'));
      return push(chunk, encoding);
    };
    for (const method of ['write', 'end'] as const) {
      const original = response[method].bind(response) as (...args: unknown[]) => never;
      response[method] = (...args: unknown[]) => {
        sizes.set(response, (sizes.get(response) ?? 0) + bytesIn(args[0]));
        return original(...args);
      };
    }
  };
  const onFinish = (event: unknown) => {
    const { request, response } = event as ServerEvent;
    if (String(request.headers['user-agent']).includes(OWN_CLIENT)) return;
    const body = (bodies.get(request) ?? []).join('');
    const answerBytes = sizes.get(response) ?? 0;
    callback({ ...nameOf(request, gatewayUrl), status: response.statusCode, body, answerBytes });
  };
  subscribe('http.server.request.start', onStart);
  subscribe('http.server.response.finish', onFinish);
  return () => {
    unsubscribe('http.server.request.start', onStart);
    unsubscribe('http.server.response.finish', onFinish);
  };
}

function bytesIn(chunk: unknown): number {
  return typeof chunk === 'string' || chunk instanceof Uint8Array ? Buffer.byteLength(chunk) : 0;
}

function nameOf(
  { headers, method = '', url = '' }: IncomingMessage,
  gatewayUrl: string,
): Pick<Answered, 'service' | 'operation'> {
  const [target = '', operation = ''] = String(headers['x-amz-target'] ?? '').split('.');
  if (target.startsWith('DynamoDB')) return { service: 'DynamoDB', operation };
  if (target === 'AmazonSQS') return { service: 'SQS', operation };
  if (gatewayUrl.endsWith(`//${headers.host}`)) {
    return { service: 'gateway', operation: `${method} /${url.split('/')[1]}` };
  }
  const isObject = (url.split('?')[0] ?? '').split('/').length > 2;
  return { service: 'S3', operation: `${method} ${isObject ? 'object' : 'bucket'}` };
}
