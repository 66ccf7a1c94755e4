import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { expect, onTestFinished, test, vi } from 'vitest';
import { guardServer, PROGRAMS_ONLY } from '../../../lib/local/engines/browser-guard.ts';
import { answerTo, rawAnswer } from '../../support/raw-request.ts';

/** A guarded server that records the requests that reached it. */
async function guarded(listener: RequestListener = (_, response) => response.end('served')) {
  const reached: string[] = [];
  const server = createServer((request, response) => {
    reached.push(`${request.method} ${request.url}`);
    listener(request, response);
  });
  guardServer(server, PROGRAMS_ONLY);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  const { port } = server.address() as AddressInfo;
  return { port, host: `127.0.0.1:${port}`, reached };
}

test('answers a refused request without waiting for its body', async () => {
  const { port, host, reached } = await guarded();
  const head = `POST / HTTP/1.1\r\nHost: ${host}\r\nOrigin: null\r\nContent-Length: 1000000000\r\n\r\n`;
  const { status, text } = await answerTo(port, `${head}the first of many bytes`);
  expect([status, reached]).toEqual([403, []]);
  expect(text).toBe(
    `refused: the Origin header is "null"; local engines serve programs on this machine at ${host} only\n`,
  );
});

test('prints received values as short, printable ASCII', async () => {
  const { port, host } = await guarded();
  const shown = async (origin: string) => {
    const headers = [
      ['Host', host],
      ['Origin', origin],
    ] as const;
    return (await rawAnswer(port, { headers })).text;
  };
  expect(await shown('"\u009b31m\u00e9"')).toContain('is "\\"\\u009b31m\\u00e9\\""; local');
  expect(await shown('x'.repeat(5_000))).toContain(`is "${'x'.repeat(119)}...; local`);
});

test('sends 100 Continue only for accepted requests', async () => {
  const { port, host, reached } = await guarded((request, response) => request.pipe(response));
  const post = (more: string) =>
    `POST /a HTTP/1.1\r\nHost: ${host}\r\nExpect: 100-continue\r\nConnection: close\r\n${more}Content-Length: 4\r\n\r\n`;
  const refused = await answerTo(port, post('Origin: https://evil.example\r\n'));
  expect([refused.status, reached]).toEqual([403, []]);
  const served = await answerTo(port, `${post('')}body`);
  expect([served.status, reached]).toEqual([100, ['POST /a']]);
  expect(served.text).toMatch(/^HTTP\/1.1 200 OK.*body/s);
});

test('ignores requests that were pipelined after a refused one', async () => {
  const { port, host, reached } = await guarded();
  const get = (path: string, more = '') => `GET ${path} HTTP/1.1\r\nHost: ${host}\r\n${more}\r\n`;
  const { status } = await answerTo(port, get('/first', 'Origin: null\r\n') + get('/second') + get('/third'));
  expect([status, reached]).toEqual([403, []]);
});

test('refuses a duplicate Host header', async () => {
  const { port, host, reached } = await guarded();
  const { status, text } = await rawAnswer(port, {
    headers: [
      ['Host', host],
      ['Host', host],
    ],
  });
  expect([status, reached]).toEqual([403, []]);
  expect(text).toContain('refused: the Host header is present more than once;');
});

test('refuses a WebSocket of a web page', async () => {
  const { port, host, reached } = await guarded();
  const headers = [
    ['Host', host],
    ['Upgrade', 'websocket'],
    ['Origin', 'https://evil.example'],
  ] as const;
  const request = headers.map(([name, value]) => `${name}: ${value}\r\n`).join('');
  const { status } = await answerTo(port, `GET / HTTP/1.1\r\nConnection: Upgrade\r\n${request}\r\n`);
  expect([status, reached]).toEqual([403, []]);
});

test.each([
  ['HTTP/1.1 without a Host', 'GET / HTTP/1.1\r\nConnection: close\r\n\r\n'],
  ['CONNECT', 'CONNECT evil.example:80 HTTP/1.1\r\nHost: evil.example:80\r\n\r\n'],
  ['an unknown Expect', 'GET / HTTP/1.1\r\nHost: a\r\nExpect: b\r\nConnection: close\r\n\r\n'],
  ['text that is not HTTP', 'hello\r\n\r\n'],
])('does not let %s through', async (_what, bytes) => {
  const { port, reached } = await guarded();
  const { status, head } = await answerTo(port, bytes);
  expect({ isServed: status === 200, reached }).toEqual({ isServed: false, reached: [] });
  expect(head).not.toContain('access-control-');
});

test('survives a client that disconnects during a refused request', async () => {
  const { port, host, reached } = await guarded();
  const socket = connect(port, '127.0.0.1');
  socket.on('error', () => {});
  socket.write(`POST / HTTP/1.1\r\nHost: ${host}\r\nOrigin: null\r\nContent-Length: 1000\r\n\r\n{"half":`);
  await once(socket, 'data');
  socket.resetAndDestroy();
  expect(await rawAnswer(port, { headers: [['Host', host]] })).toMatchObject({ status: 200, text: 'served' });
  expect(reached).toEqual(['GET /']);
});

test('accepts a Host header without a port on port 80', async () => {
  const server = createServer((_, response) => response.end('served'));
  guardServer(server, PROGRAMS_ONLY);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  const { port } = server.address() as AddressInfo;
  // Only privileged users can listen on port 80, so the server only pretends to.
  vi.spyOn(server, 'address').mockReturnValue({ port: 80, address: '127.0.0.1', family: 'IPv4' });
  server.emit('listening');
  const statusFor = async (host: string) => (await rawAnswer(port, { headers: [['Host', host]] })).status;
  expect(await Promise.all(['127.0.0.1', '127.0.0.1:80', 'localhost'].map(statusFor))).toEqual([
    200, 200, 403,
  ]);
});
