import { once } from 'node:events';
import { connect } from 'node:net';
import { PassThrough } from 'node:stream';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { answerClientError } from '../../lib/adapters/http/client-error.ts';
import { type Listening, serveGateway } from '../../lib/assembly/hosts/serve-gateway.ts';
import { type ServedFixture, serveGateway as serveFace } from './served-fixture.ts';

let served: ServedFixture;
let listening: Listening;
beforeAll(async () => {
  served = await serveFace();
  listening = await serveGateway(served.face, 0, '127.0.0.1');
});
afterAll(async () => {
  await listening.close();
  await served.close();
});

async function answerTo(...requests: readonly string[]): Promise<string> {
  const socket = connect(listening.port, '127.0.0.1');
  await once(socket, 'connect');
  let text = '';
  socket.on('data', (chunk) => {
    text += chunk;
  });
  socket.on('error', () => {});
  const closed = once(socket, 'close');
  for (const request of requests) socket.write(request);
  await closed;
  return text;
}

it.each([
  ['an invalid Host', 'GET /healthz HTTP/1.1\r\nhost: a b\r\nconnection: close\r\n\r\n', 400],
  ['an invalid request target', 'GET http://[ HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n', 400],
  ['a request that is not HTTP', 'HELLO\r\n\r\n', 400],
  ['oversized headers', `GET /healthz HTTP/1.1\r\nhost: a\r\nx: ${'x'.repeat(20_000)}\r\n\r\n`, 431],
])('answers %s with problem details', async (_what, request, status) => {
  const answer = await answerTo(request);
  expect(answer).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
  expect(answer).toContain('content-type: application/problem+json');
  expect(JSON.parse(answer.slice(answer.indexOf('{'), answer.lastIndexOf('}') + 1))).toMatchObject({
    status,
  });
});

it('answers a request that arrives too slowly with 408', () => {
  const socket = Object.assign(new PassThrough(), { bytesWritten: 0 });
  answerClientError(Object.assign(new Error('late'), { code: 'ERR_HTTP_REQUEST_TIMEOUT' }), socket);
  expect(String(socket.read())).toMatch(/^HTTP\/1.1 408 Request Timeout\r\n/);
});

it('closes a connection on which a response was already started', () => {
  const socket = Object.assign(new PassThrough(), { bytesWritten: 99 });
  answerClientError(new Error('broken'), socket);
  expect([socket.destroyed, socket.read()]).toEqual([true, null]);
});
