import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Role, type SendMessageRequest, type StreamResponse } from '@a2a-js/sdk';
import { ClientFactory, DefaultAgentCardResolver, JsonRpcTransportFactory } from '@a2a-js/sdk/client';
import { type Schema, Validator } from '@cfworker/json-schema';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { Progress as Notification } from '@modelcontextprotocol/sdk/types.js';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { gatewayProgress } from '../../lib/adapters/gateway-http/gateway-progress.ts';
import { type GatewayAddress, signedPost } from '../../lib/adapters/gateway-http/signed-post.ts';
import { httpClient } from '../../lib/adapters/http-client/http-client.ts';
import { systemClock } from '../../lib/adapters/system/system.ts';
import { handleDelivery } from '../../lib/app/delivery/handle-delivery.ts';
import { handlerUpdates } from '../../lib/app/delivery/handler-updates.ts';
import { mountFaces } from '../../lib/assembly/from-config/mount-faces.ts';
import type { CallResult } from '../../lib/core/delivery/outcome.ts';
import type { HandlerProgress } from '../../lib/core/envelope/handler-progress.ts';
import type { Flow } from '../../lib/core/task/flow.ts';
import type { JsonText } from '../../lib/core/text/json-text.ts';
import { aLine, fakeRuntime, recordingTelemetry } from '../app/a-line.ts';
import { memoryBroker } from '../app/memory-broker.ts';
import { anEndOf, anUpdate } from '../core/a-task.ts';
import { eventsOf, MY_KEY, SECRET, type ServedFixture, serveGateway } from './served-fixture.ts';

/**
 * A handler's progress from the sidecar's line over HTTP to the official clients. Only the runtime is a fake: it calls
 * `onProgress` as the test says.
 */

const FLOW: Flow = {
  name: 'render',
  entrypoint: 'fetch',
  routeNext: ['store'],
  mcp: { inputSchema: { type: 'object' } },
  a2a: {},
};
const VALUE = { kind: 'frames', frames: [{ payload: '1' }] } as unknown as CallResult;
const BIG = '{"frame":12345678901234567890}' as JsonText;
const BEARER = { authorization: `Bearer ${MY_KEY}` };

const A_MESSAGE: SendMessageRequest = {
  tenant: '',
  configuration: undefined,
  metadata: undefined,
  message: {
    messageId: 'm-1',
    contextId: '',
    taskId: '',
    role: Role.ROLE_USER,
    parts: [{ content: { $case: 'data', value: {} }, metadata: undefined, filename: '', mediaType: '' }],
    metadata: undefined,
    extensions: [],
    referenceTaskIds: [],
  },
};

let served: ServedFixture;
beforeAll(async () => {
  served = await serveGateway({}, { flows: () => [FLOW] });
  const { face, gateway, telemetry } = served;
  const log = { ...telemetry, line: telemetry.step } as never;
  mountFaces(face, { gateway, origins: [], publicUrl: served.url, keepAliveMs: 15_000, log });
});
afterAll(() => {
  http.close();
  return served.close();
});
const http = httpClient();

interface RunningHandler {
  readonly id: string;
  /** The first problem of each outage of the gateway. */
  readonly problems: readonly string[];
  report(progress: HandlerProgress): void;
  /** The handler returns, and its envelope moves on. */
  end(): Promise<void>;
}

/** Calls the handler with the next envelope that the gateway sends. */
async function handlerOf(
  create: () => unknown,
  address: GatewayAddress = { url: served.url, secret: SECRET },
): Promise<RunningHandler> {
  const before = served.sent.length;
  create();
  await expect.poll(() => served.sent.length).toBe(before + 1);
  const body = served.sent.at(-1)?.body ?? '';
  const clock = systemClock;
  const problems: string[] = [];
  const post = signedPost(address, http, clock.now);
  const progress = gatewayProgress({ clock, post, onProblem: (problem) => problems.push(problem) });
  const actor = { name: 'fetch' };
  const updates = handlerUpdates({ actor, clock, progress, telemetry: recordingTelemetry() });
  const broker = memoryBroker({ clock });
  for (const queue of ['fetch', 'store', 'x-sink']) broker.createQueue(queue);
  const called = Promise.withResolvers<(progress: HandlerProgress) => void>();
  const returned = Promise.withResolvers<CallResult>();
  const runtime = fakeRuntime(({ onProgress }) => {
    if (onProgress !== undefined) called.resolve(onProgress);
    return returned.promise;
  });
  const delivered = handleDelivery(
    { body, messageId: 'm', queue: 'fetch', receiveCount: 1 },
    { timeLeftMs: Number.POSITIVE_INFINITY },
    { ...aLine({ runtime, clock, transport: broker.transport(), actor }), progress, updates },
  );
  const report = await called.promise;
  return {
    id: JSON.parse(body).id,
    problems,
    report,
    end: async () => {
      returned.resolve(VALUE);
      expect(await delivered).toEqual({ settle: 'ack' });
      await progress.flush();
    },
  };
}

function endTask(id: string) {
  const route = { prev: ['fetch', 'store'], curr: '', next: [] };
  return served.gateway.report([anEndOf('succeeded', { task: id, envelope_id: id, route })]);
}

// biome-ignore lint/suspicious/noExplicitAny: the tests check the content
async function taskOf(id: string): Promise<any> {
  return (await served.request(`/tasks/${id}`)).json();
}

/** Reads the stream to its end. `text` grows meanwhile. */
function reading(response: Response): { text: string; readonly ended: Promise<void> } {
  const stream = { text: '', ended: readAll() };
  async function readAll(): Promise<void> {
    for await (const chunk of response.body?.pipeThrough(new TextDecoderStream()) ?? []) stream.text += chunk;
  }
  return stream;
}

describe("a handler's progress", () => {
  it('is in the event stream and in the task, with exact numbers', async () => {
    const handler = await handlerOf(() => served.post('/flows/render', {}));
    const { id } = handler;
    const stream = reading(
      await served.request(`/tasks/${id}/events`, { headers: { 'last-event-id': '0' } }),
    );
    handler.report({ percent: 50, message: 'frame 1 of 2', data: BIG });
    await expect.poll(() => stream.text).toContain('frame 1 of 2');
    const text = await (await served.request(`/tasks/${id}`)).text();
    for (const shown of [text, stream.text]) expect(shown).toContain(`"data":${BIG}`);
    expect(JSON.parse(text)).toMatchObject({
      state: 'running',
      progress: { current: 'fetch', percent: 25, latest: { actor: 'fetch', percent: 50 } },
    });
    handler.report({ percent: 100, message: 'frame 2 of 2' });
    await handler.end();
    await expect.poll(() => stream.text).toContain('frame 2 of 2');
    await endTask(id);
    await stream.ended;
    const events = await eventsOf(new Response(stream.text));
    expect(events.map(({ event }) => event)).toEqual([
      'created',
      'received',
      'progress',
      'progress',
      'completed',
      'completed',
      'ended',
    ]);
    expect(events.filter(({ event }) => event === 'progress').map(({ data }) => data)).toMatchObject([
      { actor: 'fetch', percent: 50, message: 'frame 1 of 2', progress: { percent: 25 } },
      { actor: 'fetch', percent: 100, message: 'frame 2 of 2', progress: { percent: 50 } },
    ]);
    expect(handler.problems).toEqual([]);
    const api = await served.request('/openapi.json');
    const { components } = (await api.json()) as {
      components: { schemas: { Task: Schema; TaskEvent: Schema } };
    };
    for (const { data } of events) expect(errorsIn(data, components.schemas.TaskEvent)).toEqual([]);
    expect(errorsIn(JSON.parse(text), components.schemas.Task)).toEqual([]);
    const ids = events.map((event) => event.id);
    expect(ids).toEqual(ids.toSorted((a, b) => a - b));
  });

  it('changes nothing if its report arrives after the end', async () => {
    const { id, report, end } = await handlerOf(() => served.post('/flows/render', {}));
    await end();
    await endTask(id);
    const ended = await taskOf(id);
    report({ percent: 1, message: 'too late' });
    const post = signedPost({ url: served.url, secret: SECRET }, http, systemClock.now);
    const late = anUpdate(0, systemClock.now(), { task: id, envelope_id: id, message: 'too late' });
    const ofChild = { ...late, envelope_id: 'a-child' };
    expect(await post([late, ofChild], AbortSignal.timeout(10_000))).toEqual({ canceled: new Set() });
    expect(await taskOf(id)).toEqual(ended);
  });

  it('does not delay or fail its envelope if the gateway never answers', async () => {
    let requests = 0;
    const silent = createServer(() => requests++).listen(0, '127.0.0.1');
    await once(silent, 'listening');
    const url = `http://127.0.0.1:${(silent.address() as AddressInfo).port}`;
    const handler = await handlerOf(() => served.post('/flows/render', {}), { url });
    for (let nth = 0; nth <= 100; nth++) handler.report({ percent: nth });
    // It resolves with the acknowledgement, and the server has answered nothing.
    await handler.end();
    expect(requests).toBe(1);
    silent.closeAllConnections();
    await once(silent.close(), 'close');
  });

  it('does not fail its envelope if the gateway is down', async () => {
    const closed = createServer().listen(0, '127.0.0.1');
    await once(closed, 'listening');
    const url = `http://127.0.0.1:${(closed.address() as AddressInfo).port}`;
    await once(closed.close(), 'close');
    const handler = await handlerOf(() => served.post('/flows/render', {}), { url });
    for (let nth = 0; nth <= 100; nth++) handler.report({ percent: nth });
    await handler.end();
    expect(handler.problems).toEqual([expect.stringContaining('ECONNREFUSED')]);
  });

  it('is sent to an MCP client as increasing notifications', async () => {
    const client = new Client({ name: 'a-client', version: '1' });
    const transport = new StreamableHTTPClientTransport(new URL('/mcp', served.url), {
      requestInit: { headers: BEARER },
    });
    await client.connect(transport as Parameters<typeof client.connect>[0]);
    const received: Notification[] = [];
    let result: Promise<unknown> | undefined;
    const handler = await handlerOf(() => {
      const onprogress = (one: Notification) => received.push(one);
      result = client.callTool({ name: 'render', arguments: {} }, undefined, { onprogress });
    });
    const { id } = handler;
    const messages = () => received.map(({ message }) => message);
    handler.report({ percent: 50, message: 'frame 1 of 2' });
    await expect.poll(messages).toContain(`fetch: frame 1 of 2 (task ${id})`);
    handler.report({ message: 'uploading' });
    await expect.poll(messages).toContain(`fetch: uploading (task ${id})`);
    await handler.end();
    await endTask(id);
    await result;
    const values = received.map(({ progress }) => progress);
    expect(values).toEqual([...new Set(values)].toSorted((a, b) => a - b));
    const uploading = received.find(({ message }) => message?.includes('uploading'));
    // The percentage is the same, but MCP requires a larger value.
    expect(uploading).toMatchObject({ progress: 25.001, total: 100 });
    expect(values.at(-1)).toBe(100);
    await client.close();
  });

  it('is sent to an A2A client as status updates, and is in its task', async () => {
    const fetchImpl: typeof fetch = (input, init) =>
      fetch(input, { ...init, headers: { ...Object.fromEntries(new Headers(init?.headers)), ...BEARER } });
    const client = await new ClientFactory({
      transports: [new JsonRpcTransportFactory({ fetchImpl })],
      cardResolver: new DefaultAgentCardResolver({ fetchImpl: fetch }),
    }).createFromUrl(served.url);
    const received: StreamResponse[] = [];
    let streamed: Promise<void> | undefined;
    const handler = await handlerOf(() => {
      streamed = (async () => {
        for await (const update of client.sendMessageStream(A_MESSAGE)) received.push(update);
      })();
    });
    const { id } = handler;
    handler.report({ percent: 50, message: 'frame 1 of 2', data: '{"frame":1}' as JsonText });
    const update = () => received.map(({ payload }) => payload).find((one) => hasProgress(one));
    await expect.poll(update).toMatchObject({
      $case: 'statusUpdate',
      value: {
        status: { message: { parts: [{ content: { $case: 'text', value: 'frame 1 of 2' } }] } },
        metadata: { event: 'progress', actor: 'fetch', percent: 25, handlerPercent: 50, data: { frame: 1 } },
      },
    });
    const read = await client.getTask({ tenant: '', id });
    const value = update()?.value as { readonly status?: unknown };
    expect(read.status?.message).toEqual((value.status as typeof read.status)?.message);
    await handler.end();
    await endTask(id);
    await streamed;
    expect((await client.getTask({ tenant: '', id })).status?.message).toBeUndefined();
  });
});

function errorsIn(value: unknown, schema: Schema): readonly string[] {
  return new Validator(schema, '2020-12', false).validate(value).errors.map(({ error }) => error);
}

function hasProgress(payload: StreamResponse['payload']): boolean {
  return payload?.$case === 'statusUpdate' && payload.value.metadata?.['event'] === 'progress';
}
