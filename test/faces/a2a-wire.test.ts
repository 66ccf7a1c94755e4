import { Role, TaskState } from '@a2a-js/sdk';
import { ClientFactory, DefaultAgentCardResolver, JsonRpcTransportFactory } from '@a2a-js/sdk/client';
import { LegacyJsonRpcTransport } from '@a2a-js/sdk/compat/v0_3/client';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { bearer, type FacesServer, startFaces } from './faces-server.ts';

let faces: FacesServer;
beforeEach(async () => {
  faces = await startFaces();
  faces.gateway.addFlow({ name: 'sharpen', a2a: {} });
});
afterEach(() => faces.stop());

function post(body: unknown, headers: Record<string, string> = { 'A2A-Version': '1.0' }): Promise<Response> {
  return fetch(`${faces.url}/a2a`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...bearer('ann'), ...headers },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });
}

const SEND_0_3 = {
  jsonrpc: '2.0',
  id: 1,
  method: 'message/send',
  params: {
    message: {
      kind: 'message',
      messageId: 'm-1',
      role: 'user',
      parts: [{ kind: 'data', data: { url: 'a' } }],
    },
  },
};

describe('protocol version 0.3', () => {
  it('is the default without a version header', async () => {
    expect(await (await post(SEND_0_3, {})).json()).toMatchObject({
      id: 1,
      result: {
        kind: 'task',
        id: 'task-1',
        status: { state: 'completed' },
        artifacts: [{ parts: [{ kind: 'data', data: { url: 'a' } }] }],
      },
    });
    const got = { jsonrpc: '2.0', id: 2, method: 'tasks/get', params: { id: 'task-1' } };
    expect(await (await post(got, {})).json()).toMatchObject({ result: { status: { state: 'completed' } } });
    const cancel = { jsonrpc: '2.0', id: 3, method: 'tasks/cancel', params: { id: 'task-1' } };
    expect(await (await post(cancel, {})).json()).toMatchObject({ error: { code: -32002 } });
  });

  it('streams', async () => {
    const text = await (await post({ ...SEND_0_3, method: 'message/stream' }, {})).text();
    const states = [...text.matchAll(/"state":"([a-z-]+)"/g)].map(([, state]) => state);
    expect(states[0]).toBe('submitted');
    expect(states.at(-1)).toBe('completed');
  });

  it('has its own card, which 1.0 clients can read', async () => {
    const card = await (await fetch(`${faces.url}/.well-known/agent-card.json`)).json();
    expect(card).toMatchObject({
      protocolVersion: '0.3',
      url: `${faces.url}/a2a`,
      preferredTransport: 'JSONRPC',
      skills: [{ id: 'sharpen' }],
      securitySchemes: { bearer: { type: 'http', scheme: 'Bearer' } },
      supportedInterfaces: [{ protocolVersion: '1.0' }, { protocolVersion: '0.3' }],
    });
  });

  it('works with the official client', async () => {
    const fetchImpl: typeof fetch = (input, init) =>
      fetch(input, {
        ...init,
        headers: { ...Object.fromEntries(new Headers(init?.headers)), ...bearer('ann') },
      });
    const transport = new LegacyJsonRpcTransport({ endpoint: `${faces.url}/a2a`, fetchImpl });
    const resolver = new DefaultAgentCardResolver({ fetchImpl, legacyCompat: { enabled: true } });
    expect((await resolver.resolve(faces.url)).skills).toHaveLength(1);
    const factory = new ClientFactory({ transports: [new JsonRpcTransportFactory({ fetchImpl })] });
    expect((await factory.createFromUrl(faces.url)).protocolVersion).toBe('1.0');
    const message = {
      messageId: 'm-7',
      contextId: '',
      taskId: '',
      role: Role.ROLE_USER,
      parts: [
        { content: { $case: 'data' as const, value: [1] }, metadata: undefined, filename: '', mediaType: '' },
      ],
      metadata: undefined,
      extensions: [],
      referenceTaskIds: [],
    };
    const task = await transport.sendMessage({
      tenant: '',
      message,
      configuration: undefined,
      metadata: undefined,
    });
    expect(task).toMatchObject({ status: { state: TaskState.TASK_STATE_COMPLETED } });
    // The client wraps a value that is not an object; the payload is the value itself.
    expect(faces.gateway.inputOf('task-1').payload).toBe('[1]');
  });
});

describe('a request', () => {
  const SEND =
    '{"jsonrpc":"2.0","id":1,"method":"SendMessage","params":{"message":{"messageId":"m","role":"ROLE_USER","parts":[{"data":DATA}]}}}';

  it('preserves exact numbers in both directions', async () => {
    const data = '{"n":12345678901234567890,"half":0.50}';
    const response = await post(SEND.replace('DATA', data), {
      'A2A-Version': '1.0',
      traceparent: '00-a-b-01',
    });
    expect(faces.gateway.inputOf('task-1')).toEqual({ payload: data, traceparent: '00-a-b-01' });
    expect(await response.text()).toContain(`"data":${data}`);
  });

  it('is rejected if its data is nested too deep', async () => {
    const deep = `${'['.repeat(10_000)}1${']'.repeat(10_000)}`;
    expect(await (await post(SEND.replace('DATA', deep))).json()).toMatchObject({ error: { code: -32602 } });
    expect(faces.bugs).toEqual([]);
  });

  it('receives keep-alive comments while idle', async () => {
    faces.gateway.addFlow({ name: 'sharpen', a2a: {} }, { kind: 'held' });
    const response = await post(SEND.replace('SendMessage', 'SendStreamingMessage').replace('DATA', '{}'));
    expect(response.headers.get('content-type')).toBe('text/event-stream');
    let text = '';
    for await (const chunk of response.body ?? []) {
      text += new TextDecoder().decode(chunk);
      if (text.includes(': keep-alive\n\n')) break;
    }
    expect(text).toContain('data: ');
  });

  it.each([
    ['broken JSON', '{"jsonrpc"', 400, -32700],
    ['not JSON-RPC', '{}', 200, -32602],
    ['a batch', '[]', 200, -32602],
    ['a call of an unknown method', '{"jsonrpc":"2.0","id":1,"method":"tasks/get","params":{}}', 200, -32601],
  ])('is rejected if its body is %s', async (_what, body, status, code) => {
    const response = await post(body);
    expect(response.status).toBe(status);
    expect(await response.json()).toMatchObject({ error: { code } });
  });

  it('is rejected if it is not UTF-8', async () => {
    const [before = '', after = ''] = SEND.split('DATA');
    const body = Buffer.concat([
      Buffer.from(`${before}"`),
      Buffer.from('ff', 'hex'),
      Buffer.from(`"${after}`),
    ]);
    const response = await fetch(`${faces.url}/a2a`, {
      method: 'POST',
      headers: { authorization: 'Bearer ann', 'content-type': 'application/json', 'A2A-Version': '1.0' },
      body,
    });
    expect([response.status, await response.json()]).toMatchObject([400, { error: { code: -32700 } }]);
  });

  it('is rejected with an unknown version, which is not repeated', async () => {
    const text = await (await post(SEND, { 'A2A-Version': '9.9' })).text();
    expect(JSON.parse(text)).toMatchObject({ error: { code: -32009 } });
    expect(text).not.toContain('9.9');
  });

  it('is rejected with another method or content type', async () => {
    expect((await post(SEND, { 'content-type': 'text/plain' })).status).toBe(415);
    expect((await fetch(`${faces.url}/a2a`)).status).toBe(405);
  });
});
