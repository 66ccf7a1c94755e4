import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ask, keepAliveAgent } from './clients.ts';
import { LANGUAGES } from './languages.ts';
import { endAll, type RuntimeProcess, startForTest, startRuntime, untilBegun } from './runtime-process.ts';

afterAll(endAll);

describe.each(LANGUAGES)('$name runtime, HTTP protocol', (language) => {
  let runtime: RuntimeProcess;
  const json = (text: string): Record<string, unknown> => JSON.parse(text) as Record<string, unknown>;
  beforeAll(async () => {
    const env = { ASYA_RUNTIME_MAX_REQUEST: '1000' };
    runtime = await startRuntime({ language, handler: language.handler('run'), over: 'http', env });
  });

  it('reports that it is ready', async () => {
    const { status, text } = await ask(runtime, { method: 'GET', path: '/healthz' });
    expect([status, json(text)]).toEqual([200, { status: 'ready' }]);
  });

  it.each([
    ['another path', 'POST', '/other', 404, 'not_found', /no such path: \/other; the handler is at \/invoke/],
    ['a longer path', 'POST', '/invoke/more', 404, 'not_found', /the handler is at \/invoke/],
    ['another method', 'GET', '/invoke', 405, 'method_not_allowed', /\/invoke accepts POST, not GET/],
    ['PUT', 'PUT', '/invoke', 405, 'method_not_allowed', /accepts POST, not PUT/],
    ['POST to /healthz', 'POST', '/healthz', 405, 'method_not_allowed', /accepts GET, not POST/],
  ])('rejects %s and keeps the connection open', async (_title, method, path, status, error, message) => {
    const agent = keepAliveAgent();
    const body = method === 'GET' ? {} : { body: '{"n":1}' };
    const refused = await ask(runtime, { method, path, agent, ...body });
    expect(refused.status).toBe(status);
    expect(json(refused.text)).toMatchObject({ error, message: expect.stringMatching(message) });
    if (status === 405) expect(refused.headers['allow']).toBe(path === '/invoke' ? 'POST' : 'GET');
    const next = await ask(runtime, { body: '{"do":"echo","with":1}', agent });
    expect([next.status, next.text, next.localPort]).toEqual([200, '1', refused.localPort]);
    agent.destroy();
  });

  it('answers HEAD without a body', async () => {
    const { status, text } = await ask(runtime, { method: 'HEAD', path: '/healthz' });
    expect([status, text]).toEqual([405, '']);
  });

  it('ignores the query string', async () => {
    expect((await ask(runtime, { path: '/invoke?a=1', body: '{"do":"echo","with":1}' })).text).toBe('1');
  });

  it.each([
    ['text', 'hello'],
    ['a truncated object', '{"do":'],
    ['empty', ''],
    ['NaN', 'NaN'],
    ['not UTF-8', Buffer.of(0x22, 0xff, 0x22)],
  ])('rejects a body that is %s', async (_title, body) => {
    const { status, text } = await ask(runtime, { body });
    expect(status).toBe(400);
    expect(json(text)).toMatchObject({
      error: 'bad_request',
      type: 'BadRequest',
      message: expect.stringMatching(/^the request body \(\d+ bytes\) is not JSON: /),
    });
  });

  it('rejects a body that is too large', async () => {
    const { status, text } = await ask(runtime, { body: JSON.stringify('x'.repeat(2_000)) });
    expect(status).toBe(413);
    expect(json(text)['message']).toMatch(/ is larger than ASYA_RUNTIME_MAX_REQUEST \(1000 bytes\)$/);
    expect((await ask(runtime, { body: '{"do":"echo","with":1}' })).text).toBe('1');
  });

  it('passes metadata to a handler that takes a context', async () => {
    const headers = {
      'x-asya-envelope-id': 'e-1',
      'x-asya-attempt': '2',
      'x-asya-deadline': '2026-01-01T00:05:00Z',
      traceparent: '00-1-2-01',
      'X-Custom': 'a header of HTTP, not of the envelope',
    };
    const { text } = await ask(runtime, { body: '{"do":"known","with":1,"ctx":true}', headers });
    expect(json(text)).toEqual({
      payload: 1,
      id: 'e-1',
      attempt: 2,
      deadline: '2026-01-01T00:05:00Z',
      traceparent: '00-1-2-01',
      custom: null,
      error: null,
      key: null,
    });
  });

  it.each([
    [['a', 'b'], 'a,b'],
    [[], ''],
  ])('sends a changed route %j in a header', async (next, header) => {
    const { status, headers } = await ask(runtime, {
      body: JSON.stringify({ do: 'reroute', with: { next }, ctx: true }),
    });
    expect([status, headers['x-asya-route-next']]).toEqual([200, header]);
  });

  it('sends no route header if the route was not changed', async () => {
    const { headers } = await ask(runtime, { body: '{"do":"known","with":1,"ctx":true}' });
    expect(headers).not.toHaveProperty('x-asya-route-next');
  });

  it.each([['a,b'], ['a\r\nx-evil: 1'], ['ü'], [''], [7], [null]])('rejects a route to %j', async (name) => {
    const { status, text, headers } = await ask(runtime, {
      body: JSON.stringify({ do: 'reroute', with: { next: [name] }, ctx: true }),
    });
    expect(status).toBe(500);
    expect(json(text)['message']).toMatch(/expected (a list|an array) of actor names/);
    expect(headers).not.toHaveProperty('x-evil');
  });

  it('keeps running after a client disconnects', async () => {
    const slow = await startForTest({ language, handler: language.handler('sleep'), over: 'http' });
    const socket = connect(slow.port, '127.0.0.1');
    socket.on('error', () => {});
    socket.write('POST /invoke HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\n0.3');
    await untilBegun(slow);
    socket.destroy();
    const half = connect(slow.port, '127.0.0.1');
    half.on('error', () => {});
    half.end('POST /invoke HTTP/1.1\r\nHost: x\r\nContent-Length: 30\r\n\r\n0.3');
    const { text } = await ask(slow, { body: '0.5' });
    expect(text).toBe('"slept"');
    expect(slow.stderr()).not.toMatch(/internal error|Traceback|uncaught/);
  });

  it('does not start on a port that is in use', async () => {
    const env = { ASYA_RUNTIME_URL: `http://127.0.0.1:${runtime.port}/invoke` };
    const attempt = startForTest({ language, handler: language.handler('echo'), env });
    await expect(attempt).rejects.toThrow(/cannot listen at http:.*in use.*set ASYA_RUNTIME_URL/);
  });
});
