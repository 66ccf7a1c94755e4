import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

/** A proxy in front of SQS that denies chosen actions on chosen queues, like IAM. */
export interface DenyingSqs {
  readonly endpoint: string;
  /** Answers this action on this queue with "access denied" from now on. */
  deny(action: 'GetQueueUrl' | 'SendMessageBatch', queue: string): void;
  close(): Promise<void>;
}

export async function startDenyingSqs(engine: string): Promise<DenyingSqs> {
  const denied = new Set<string>();
  const server = createServer(async (request, response) => {
    const body = await text(request);
    const action = String(request.headers['x-amz-target']).split('.').at(-1) ?? '';
    const { QueueName, QueueUrl = '' } = JSON.parse(body) as { QueueName?: string; QueueUrl?: string };
    const queue = QueueName ?? QueueUrl.split('/').at(-1) ?? '';
    if (denied.has(`${action} ${queue}`)) {
      response.writeHead(403, { 'content-type': 'application/x-amz-json-1.0' });
      const message = `User: operator is not authorized to perform: sqs:${action} on resource: ${queue}`;
      const type = 'com.amazon.coral.service#AccessDeniedException';
      response.end(JSON.stringify({ __type: type, Message: message }));
      return;
    }
    const { host: _host, 'content-length': _length, connection: _connection, ...headers } = request.headers;
    const answer = await fetch(engine, {
      method: 'POST',
      headers: headers as Record<string, string>,
      body,
    });
    response.writeHead(answer.status, { 'content-type': answer.headers.get('content-type') ?? '' });
    response.end(await answer.text());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    deny: (action, queue) => denied.add(`${action} ${queue}`),
    close: async () => {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}
