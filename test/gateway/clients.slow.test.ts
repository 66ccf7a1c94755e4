import { join } from 'node:path';
import { Role, TaskState } from '@a2a-js/sdk';
import { ClientFactory, DefaultAgentCardResolver, JsonRpcTransportFactory } from '@a2a-js/sdk/client';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { afterAll, beforeAll, describe, expect, it, test } from 'vitest';
import type { LocalMesh } from '../../lib/local/mesh/local-mesh.ts';
import { startMesh } from '../../lib/local/mesh/mesh.ts';
import { asya } from '../cli/run-asya.ts';
import { manifestIn } from '../local/a-mesh.ts';

/** The official clients against a running mesh, without fakes. */

const HELLO = join(import.meta.dirname, '../../examples/hello');
let mesh: LocalMesh;
let access: { readonly url: string; readonly key: string };
beforeAll(async () => {
  const started = await startMesh({
    manifest: manifestIn(HELLO),
    folder: HELLO,
    gateway: {},
    replicas: 1,
    onEvent: () => {},
  });
  if ('problem' in started) throw new Error(started.problem);
  mesh = started.mesh;
  if (mesh.gateway === undefined) throw new Error('the mesh has no gateway');
  access = mesh.gateway;
});
afterAll(() => mesh.close(1_000));

const bearer = () => ({ authorization: `Bearer ${access.key}` });

test('asya failures show prints the events of a failed task', async () => {
  const headers = { ...bearer(), 'content-type': 'application/json' };
  const created = await fetch(`${access.url}/flows/hello`, { method: 'POST', headers, body: '{"name":""}' });
  const { id } = (await created.json()) as { id: string };
  const state = async () => {
    const response = await fetch(`${access.url}/tasks/${id}`, { headers });
    return ((await response.json()) as { state: string }).state;
  };
  await expect.poll(state, { timeout: 110_000 }).toBe('failed');
  const show = () => asya(['failures', 'show', id], { env: { ...mesh.variables } });
  await expect.poll(async () => (await show()).status).toBe(0);
  const { out } = await show();
  expect(out).toMatch(/task +\S+/);
  expect(out).toMatch(/created: pending/);
  expect(out).toMatch(/ended at greet: failed/);
});

describe('an MCP client', () => {
  it('lists flows as tools, calls one and receives its progress', async () => {
    const client = new Client({ name: 'a-client', version: '1' });
    const transport = new StreamableHTTPClientTransport(new URL('/mcp', access.url), {
      requestInit: { headers: bearer() },
    });
    await client.connect(transport as Parameters<typeof client.connect>[0]);
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name).sort()).toEqual(['hello', 'hello-py']);
    const received: number[] = [];
    const result = await client.callTool({ name: 'hello', arguments: { name: 'you' } }, undefined, {
      onprogress: ({ progress }) => received.push(progress),
      timeout: 100_000,
    });
    expect(result.structuredContent).toEqual({ greeting: 'HELLO, YOU!' });
    expect(received.length).toBeGreaterThan(0);
    await expect(client.callTool({ name: 'hello', arguments: {} })).rejects.toThrow(/name/);
    await client.close();
  });

  it('is rejected without a key', async () => {
    const client = new Client({ name: 'a-stranger', version: '1' });
    const transport = new StreamableHTTPClientTransport(new URL('/mcp', access.url));
    await expect(client.connect(transport as Parameters<typeof client.connect>[0])).rejects.toThrow();
  });
});

describe('an A2A client', () => {
  it('reads the card, sends a message and gets the task with its result', async () => {
    const fetchImpl: typeof fetch = (input, init) =>
      fetch(input, { ...init, headers: { ...Object.fromEntries(new Headers(init?.headers)), ...bearer() } });
    const client = await new ClientFactory({
      transports: [new JsonRpcTransportFactory({ fetchImpl })],
      cardResolver: new DefaultAgentCardResolver({ fetchImpl: fetch }),
    }).createFromUrl(access.url);
    const answer = await client.sendMessage({
      tenant: '',
      configuration: undefined,
      metadata: undefined,
      message: {
        messageId: 'm-1',
        contextId: '',
        taskId: '',
        role: Role.ROLE_USER,
        parts: [
          {
            content: { $case: 'data', value: { name: 'you' } },
            metadata: undefined,
            filename: '',
            mediaType: '',
          },
        ],
        metadata: undefined,
        extensions: [],
        referenceTaskIds: [],
      },
    });
    const task = 'status' in answer ? answer : undefined;
    expect(task?.status?.state).toBe(TaskState.TASK_STATE_COMPLETED);
    expect(JSON.stringify(task?.artifacts)).toContain('HELLO, YOU!');
  });
});
