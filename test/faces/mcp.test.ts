import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { Progress } from '@modelcontextprotocol/sdk/types.js';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { bearer, type FacesServer, startFaces } from './faces-server.ts';

const SCHEMA = { type: 'object', properties: { url: { type: 'string' } }, required: ['url'] };

let faces: FacesServer;
let clients: Client[];
beforeEach(async () => {
  faces = await startFaces();
  clients = [];
  faces.gateway.addFlow({
    name: 'sharpen',
    description: 'Makes a picture sharper',
    mcp: { inputSchema: SCHEMA },
  });
});
afterEach(async () => {
  await Promise.all(clients.map((client) => client.close()));
  await faces.stop();
});

async function connected(name: string): Promise<Client> {
  const client = new Client({ name, version: '1' });
  const url = new URL('/mcp', faces.url);
  await client.connect(
    new StreamableHTTPClientTransport(url, { requestInit: { headers: bearer(name) } }) as Parameters<
      typeof client.connect
    >[0],
  );
  clients.push(client);
  return client;
}

function post(body: unknown, headers: Record<string, string> = {}): Promise<Response> {
  return fetch(`${faces.url}/mcp`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      ...bearer('ann'),
      ...headers,
    },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });
}

const LIST = { jsonrpc: '2.0', id: 1, method: 'tools/list' };

describe('the tools', () => {
  it('are the flows with `mcp`, with schema and description', async () => {
    faces.gateway.addFlow({ name: 'secret' });
    faces.gateway.addFlow({ name: 'bare', mcp: { inputSchema: {} } });
    const client = await connected('ann');
    expect(client.getServerVersion()).toMatchObject({ name: 'fake', version: '1.2.3' });
    expect((await client.listTools()).tools).toEqual([
      { name: 'sharpen', description: 'Makes a picture sharper', inputSchema: SCHEMA },
      { name: 'bare', inputSchema: { type: 'object' } },
    ]);
  });

  it("are limited to the caller's flows", async () => {
    const client = await connected('ann:other');
    expect((await client.listTools()).tools).toEqual([]);
    await expect(client.callTool({ name: 'sharpen', arguments: { url: 'a' } })).rejects.toMatchObject({
      code: -32602,
    });
  });

  it('disappear with their flow', async () => {
    const client = await connected('ann');
    faces.gateway.removeFlow('sharpen');
    expect((await client.listTools()).tools).toEqual([]);
    await expect(client.callTool({ name: 'sharpen', arguments: { url: 'a' } })).rejects.toThrow(
      'unknown tool',
    );
  });
});

describe('a call', () => {
  it("returns the task's result", async () => {
    const client = await connected('ann');
    const result = await client.callTool({ name: 'sharpen', arguments: { url: 'a' } });
    expect(result).toEqual({
      content: [{ type: 'text', text: '{"url":"a"}' }],
      structuredContent: { url: 'a' },
      _meta: { 'asya/task': 'task-1' },
    });
  });

  it.each([
    ['"plain words"', 'plain words'],
    ['[1,2]', '[1,2]'],
    ['null', 'null'],
  ])('has no structured content if the payload is not an object: %s', async (payload, text) => {
    faces.gateway.addFlow({ name: 'odd', mcp: { inputSchema: {} } }, { kind: 'answers', payload });
    const client = await connected('ann');
    const result = await client.callTool({ name: 'odd' });
    expect(result.content).toEqual([{ type: 'text', text }]);
    expect(result).not.toHaveProperty('structuredContent');
  });

  it('preserves exact numbers in both directions', async () => {
    const call =
      '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"sharpen","arguments":{"url":"a","n":12345678901234567890}}}';
    const text = await (await post(call, { traceparent: '00-a-b-01' })).text();
    expect(faces.gateway.inputOf('task-1')).toEqual({
      payload: '{"url":"a","n":12345678901234567890}',
      traceparent: '00-a-b-01',
    });
    expect(text).toContain('"structuredContent":{"url":"a","n":12345678901234567890}');
  });

  it('reports increasing progress', async () => {
    faces.gateway.addFlow({ name: 'slow', mcp: { inputSchema: {} } }, { kind: 'held' });
    const client = await connected('ann');
    const received: Progress[] = [];
    const call = client.callTool({ name: 'slow', arguments: {} }, undefined, {
      onprogress: (p) => received.push(p),
    });
    const [id = ''] = await faces.gateway.untilCreated(1);
    for (let step = 0; step < 5; step++) {
      await expect.poll(() => received).toHaveLength(Math.max(1, step));
      faces.gateway.advance(id);
    }
    await call;
    expect(received.map(({ progress, total }) => [progress, total])).toEqual([
      [0, 100],
      [25, 100],
      [50, 100],
      [75, 100],
      [100, 100],
    ]);
    expect(received.at(2)?.message).toBe('task task-1: at upload');
  });

  it('sends keep-alive comments without a progress token', async () => {
    faces.gateway.addFlow({ name: 'slow', mcp: { inputSchema: {} } }, { kind: 'held' });
    const params = { name: 'slow', arguments: {} };
    const { body } = await post({ jsonrpc: '2.0', id: 1, method: 'tools/call', params });
    const [id = ''] = await faces.gateway.untilCreated(1);
    let text = '';
    let hasAdvanced = false;
    for await (const chunk of body ?? []) {
      text += Buffer.from(chunk).toString();
      if (hasAdvanced || !text.includes(': keepalive\n\n')) continue;
      hasAdvanced = true;
      for (let step = 0; step < 5; step++) faces.gateway.advance(id);
    }
    expect(text.replaceAll(': keepalive\n\n', '')).toMatch(/^event: message\ndata: \{"result":.*\}\n\n$/);
  });

  it.each([
    [
      'failed',
      { kind: 'fails', reason: 'PolicyExhausted', error: { type: 'ValueError', message: 'no such picture' } },
      'task task-1 failed (PolicyExhausted): ValueError: no such picture',
    ],
    [
      'timed out',
      {
        kind: 'fails',
        reason: 'Timeout',
        error: { type: 'DeadlineExceeded', message: 'envelope timed out' },
      },
      'task task-1 failed (Timeout): DeadlineExceeded: envelope timed out',
    ],
  ] as const)('returns an error text for the model if its task %s', async (_what, behavior, text) => {
    faces.gateway.addFlow({ name: 'breaks', mcp: { inputSchema: {} } }, behavior);
    const client = await connected('ann');
    expect(await client.callTool({ name: 'breaks' })).toMatchObject({ isError: true, content: [{ text }] });
  });

  it('reports that its task was canceled', async () => {
    faces.gateway.addFlow({ name: 'slow', mcp: { inputSchema: {} } }, { kind: 'held' });
    const client = await connected('ann');
    const call = client.callTool({ name: 'slow' });
    const [id = ''] = await faces.gateway.untilCreated(1);
    await faces.gateway.cancel({ id: 'ann' }, id);
    expect(await call).toMatchObject({ isError: true, content: [{ text: 'task task-1 canceled' }] });
  });

  it('is rejected with the place of each input error', async () => {
    const client = await connected('ann');
    const refused = client.callTool({ name: 'sharpen', arguments: { url: 7 } });
    await expect(refused).rejects.toMatchObject({
      code: -32602,
      message: expect.stringMatching(/^MCP error -32602: the input does not match the flow: .*#\/url: /),
      data: { errors: expect.arrayContaining([expect.objectContaining({ place: '#/url' })]) },
    });
    expect(await faces.gateway.tasks({ id: 'ann' })).toMatchObject({ tasks: [] });
  });

  it('is rejected for an unknown tool', async () => {
    faces.gateway.addFlow({ name: 'secret' });
    const client = await connected('ann');
    for (const name of ['nothing', 'secret']) {
      await expect(client.callTool({ name })).rejects.toMatchObject({ code: -32602 });
    }
  });

  it('hides an internal error from the client and reports it to the host', async () => {
    faces.gateway.create = () => Promise.reject(new Error('table secret-table is not there'));
    const client = await connected('ann');
    await expect(client.callTool({ name: 'sharpen', arguments: { url: 'a' } })).rejects.toThrow(
      'MCP error -32603: internal error',
    );
    expect(faces.bugs).toMatchObject([{ message: 'table secret-table is not there' }]);
  });

  it('returns after the longest wait, and its task continues', async () => {
    await faces.stop();
    faces = await startFaces({ maxWaitMs: 20 });
    faces.gateway.addFlow({ name: 'slow', mcp: { inputSchema: {} } }, { kind: 'held' });
    const client = await connected('ann');
    expect(await client.callTool({ name: 'slow' })).toMatchObject({
      isError: true,
      content: [{ text: 'task task-1 is still pending; it continues in the background' }],
    });
  });
});

describe('a client that disconnects', () => {
  it('ends its event stream, and its task continues', async () => {
    faces.gateway.addFlow({ name: 'slow', mcp: { inputSchema: {} } }, { kind: 'held' });
    const client = await connected('ann');
    const call = client.callTool({ name: 'slow' }).catch((error: unknown) => error);
    const [id = ''] = await faces.gateway.untilCreated(1);
    await expect.poll(() => faces.gateway.listeners()).toBe(1);
    await client.close();
    await call;
    await expect.poll(() => faces.gateway.listeners()).toBe(0);
    expect(await faces.gateway.task({ id: 'ann' }, id)).toMatchObject({ task: { state: 'pending' } });
    expect(faces.bugs).toEqual([]);
  });

  it('does not cancel its task by canceling the request', async () => {
    faces.gateway.addFlow({ name: 'slow', mcp: { inputSchema: {} } }, { kind: 'held' });
    const client = await connected('ann');
    const stop = new AbortController();
    const call = client.callTool({ name: 'slow' }, undefined, { signal: stop.signal });
    const [id = ''] = await faces.gateway.untilCreated(1);
    stop.abort();
    await expect(call).rejects.toThrow();
    const cancelled = { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 1 } };
    expect((await post(cancelled)).status).toBe(202);
    expect(await faces.gateway.task({ id: 'ann' }, id)).toMatchObject({ task: { state: 'pending' } });
  });
});

describe('two concurrent clients', () => {
  it('have separate tasks, even with equal request ids', async () => {
    faces.gateway.addFlow({ name: 'slow', mcp: { inputSchema: {} } }, { kind: 'held' });
    const [ann, bob] = [await connected('ann'), await connected('bob')];
    const received: string[] = [];
    const calls = [ann, bob].map((client, index) =>
      client.callTool({ name: 'slow', arguments: { index } }, undefined, {
        onprogress: ({ message }) => received.push(`${index} ${message}`),
      }),
    );
    const created = await faces.gateway.untilCreated(2);
    await expect.poll(() => new Set(received.map((line) => line[0])).size).toBe(2);
    for (const id of created) for (let step = 0; step < 5; step++) faces.gateway.advance(id);
    const results = await Promise.all(calls);
    expect(results.map(({ structuredContent }) => structuredContent)).toEqual([{ index: 0 }, { index: 1 }]);
    const tasks = results.map(({ _meta }) => String(_meta?.['asya/task']));
    for (const line of received) expect(line).toContain(`${tasks[Number(line[0])]}:`);
    for (const [index, name] of ['ann', 'bob'].entries()) {
      expect(await faces.gateway.tasks({ id: name })).toMatchObject({ tasks: [{ id: tasks[index] }] });
    }
  });
});

describe('a request', () => {
  it.each(['https://evil.example', 'null', 'https://good.example.evil.example'])(
    'is rejected from the origin %s',
    async (origin) => {
      const response = await post(LIST, { origin });
      expect(response.status).toBe(403);
      expect(await response.text()).not.toContain('evil');
    },
  );

  it.each([{ origin: 'https://good.example' }, {}])(
    'is answered with plain JSON, headers %s',
    async (headers) => {
      const response = await post(LIST, headers as Record<string, string>);
      expect(response.status).toBe(200);
      expect(await response.json()).toMatchObject({ id: 1, result: { tools: [{ name: 'sharpen' }] } });
    },
  );

  it.each(['GET', 'DELETE', 'PUT'])(
    'is rejected with method %s, because sessions are not supported',
    async (method) => {
      const response = await fetch(`${faces.url}/mcp`, { method, headers: { accept: 'text/event-stream' } });
      expect(response.status).toBe(405);
      expect(response.headers.get('allow')).toBe('POST');
    },
  );

  it('is rejected if it is a batch', async () => {
    expect((await post([LIST, LIST])).status).toBe(400);
  });

  it.each(['{"jsonrpc"', '7', '{"jsonrpc":"2.0","id":1}'])(
    'is rejected if it is not a JSON-RPC request: %s',
    async (body) => {
      expect((await post(body)).status).toBe(400);
    },
  );

  it.each([
    ['is not UTF-8', Buffer.from('ff', 'hex')],
    ['begins with a byte order mark', Buffer.from('\ufeff')],
  ])('is rejected without a call if its body %s', async (_what, bytes) => {
    const params = { name: 'sharpen', arguments: { url: 'X' } };
    const call = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params });
    const body = bytes.equals(Buffer.from('\ufeff'))
      ? Buffer.concat([bytes, Buffer.from(call)])
      : Buffer.concat(
          call
            .split('X')
            .flatMap((part) => [Buffer.from(part), bytes])
            .slice(0, -1),
        );
    const response = await fetch(`${faces.url}/mcp`, {
      method: 'POST',
      headers: {
        authorization: 'Bearer ann',
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
      },
      body,
    });
    expect([response.status, await response.json()]).toMatchObject([400, { error: { code: -32700 } }]);
  });
});
