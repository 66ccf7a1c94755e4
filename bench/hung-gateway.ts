import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { CreateQueueCommand } from '@aws-sdk/client-sqs';
import { gatewayProgress } from '../lib/adapters/gateway-http/gateway-progress.ts';
import { signedPost } from '../lib/adapters/gateway-http/signed-post.ts';
import { httpClient } from '../lib/adapters/http-client/http-client.ts';
import { sqsClient } from '../lib/adapters/sqs/sqs-client.ts';
import { systemClock } from '../lib/adapters/system/system.ts';
import { startChild, stopChild } from './child.ts';
import { MESSAGES, moveWithSidecar, refill } from './hops.ts';
import { runContest } from './measure.ts';
import { envelopeOf, PAYLOADS } from './payloads.ts';
import type { Row } from './report.ts';

const ROUNDS = 31;

/** Envelopes of a task with a gateway, and with one that accepts reports but never answers, compared with no gateway. */
export async function benchHungGateway(): Promise<readonly Row[]> {
  const { child, firstMessage } = await startChild('peers/sqs-engine.ts');
  const endpoint = String(firstMessage);
  const client = sqsClient({ endpoint, region: 'us-east-1' }, {});
  for (const QueueName of ['score', 'store']) await client.send(new CreateQueueCommand({ QueueName }));
  const queues = { from: `${endpoint}/000000000000/score`, to: `${endpoint}/000000000000/store` };
  const body = withTask(envelopeOf(PAYLOADS.text(1024)));
  const rows: Row[] = [];
  for (const [name, answer] of [
    ['the gateway never answers', () => {}],
    ['the gateway answers', (response: ServerResponse) => response.end('{"canceled":[]}')],
  ] as const) {
    const gateway = await startGateway(answer);
    const url = `http://127.0.0.1:${(gateway.address() as AddressInfo).port}`;
    const http = httpClient();
    const post = signedPost({ url, secret: 's' }, http, systemClock.now);
    const progress = gatewayProgress({ clock: systemClock, post, onProblem: () => {} });
    const { subjectUs, peerUs, ratio } = await runContest({
      name,
      units: MESSAGES,
      rounds: ROUNDS,
      before: () => refill(client, queues, body),
      subject: () => moveWithSidecar(endpoint, progress),
      peer: () => moveWithSidecar(endpoint),
    });
    rows.push({ group: 'a hop with a gateway / without', name, subjectUs, peerUs, ratio, atMost: 1.1 });
    http.close();
    gateway.closeAllConnections();
    gateway.close();
  }
  client.destroy();
  await stopChild(child);
  return rows;
}

async function startGateway(answer: (response: ServerResponse) => void): Promise<Server> {
  const server = createServer((request, response) => {
    request.resume();
    answer(response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', () => resolve()));
  return server;
}

function withTask(envelope: string): string {
  return JSON.stringify({ ...JSON.parse(envelope), headers: { 'x-asya-task': 't-1' } });
}
