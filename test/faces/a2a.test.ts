import {
  type Message,
  type Part,
  Role,
  type SendMessageRequest,
  type StreamResponse,
  type Task,
  TaskState,
} from '@a2a-js/sdk';
import {
  type Client,
  ClientFactory,
  DefaultAgentCardResolver,
  JsonRpcTransportFactory,
} from '@a2a-js/sdk/client';
import {
  A2AError,
  ContentTypeNotSupportedError,
  PushNotificationNotSupportedError,
  RequestMalformedError,
  TaskNotCancelableError,
  TaskNotFoundError,
  UnsupportedOperationError,
} from '@a2a-js/sdk/errors';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { bearer, type FacesServer, startFaces } from './faces-server.ts';

let faces: FacesServer;
beforeEach(async () => {
  faces = await startFaces();
  faces.gateway.addFlow({
    name: 'sharpen',
    description: 'Makes a picture sharper',
    mcp: { inputSchema: { type: 'object', required: ['url'] } },
    a2a: { name: 'Sharpen', tags: ['picture'], examples: ['{"url":"https://…"}'] },
  });
});
afterEach(() => faces.stop());

function connected(name: string): Promise<Client> {
  const fetchImpl: typeof fetch = (input, init) =>
    fetch(input, {
      ...init,
      headers: { ...Object.fromEntries(new Headers(init?.headers)), ...bearer(name) },
    });
  return new ClientFactory({
    transports: [new JsonRpcTransportFactory({ fetchImpl })],
    cardResolver: new DefaultAgentCardResolver({ fetchImpl }),
  }).createFromUrl(faces.url);
}

type Sent = SendMessageRequest & { readonly message: Message };

let sent = 0;
function request(content: Part['content'], rest: Partial<Message> = {}): Sent {
  const part: Part = { content, metadata: undefined, filename: '', mediaType: '' };
  const message: Message = {
    messageId: `m-${++sent}`,
    contextId: '',
    taskId: '',
    role: Role.ROLE_USER,
    parts: [part],
    metadata: undefined,
    extensions: [],
    referenceTaskIds: [],
    ...rest,
  };
  return { tenant: '', message, configuration: undefined, metadata: undefined };
}

function data(value: unknown, rest: Partial<Message> = {}): Sent {
  return request({ $case: 'data', value }, rest);
}

async function send(client: Client, params: Sent): Promise<Task> {
  return (await client.sendMessage(params)) as Task;
}

function polling(params: Sent) {
  const configuration = {
    acceptedOutputModes: [],
    taskPushNotificationConfig: undefined,
    returnImmediately: true,
  };
  return { ...params, configuration };
}

function addHeldFlow(): void {
  faces.gateway.addFlow({ name: 'slow', a2a: {} }, { kind: 'held' });
}

describe('the agent card', () => {
  it('is public and lists the skills', async () => {
    faces.gateway.addFlow({ name: 'secret' });
    const response = await fetch(`${faces.url}/.well-known/agent-card.json`, {
      headers: { 'A2A-Version': '1.0' },
    });
    expect(await response.json()).toMatchObject({
      name: 'fake',
      version: '1.2.3',
      supportedInterfaces: [
        { url: `${faces.url}/a2a`, protocolBinding: 'JSONRPC', protocolVersion: '1.0' },
        { url: `${faces.url}/a2a`, protocolBinding: 'JSONRPC', protocolVersion: '0.3' },
      ],
      capabilities: { streaming: true, extendedAgentCard: true },
      securitySchemes: { bearer: { httpAuthSecurityScheme: { scheme: 'Bearer' } } },
      skills: [{ id: 'sharpen', name: 'Sharpen', description: 'Makes a picture sharper', tags: ['picture'] }],
    });
  });

  it('changes with the flows, and shows a caller only its own', async () => {
    addHeldFlow();
    const client = await connected('ann:slow');
    expect((await client.getAgentCard()).skills.map(({ id }) => id)).toEqual(['slow']);
    faces.gateway.removeFlow('slow');
    expect((await client.getAgentCard()).skills).toEqual([]);
  });
});

describe('a message', () => {
  it('returns the task and its result', async () => {
    const task = await send(await connected('ann'), data({ url: 'a' }, { contextId: 'talk-1' }));
    expect(task).toMatchObject({
      id: 'task-1',
      contextId: 'talk-1',
      status: { state: TaskState.TASK_STATE_COMPLETED },
      artifacts: [
        {
          artifactId: 'result',
          name: 'sharpen',
          parts: [{ content: { $case: 'data', value: { url: 'a' } } }],
        },
      ],
      metadata: { flow: 'sharpen', percent: 100 },
    });
  });

  it.each([
    [{}, '{"text":"hello"}'],
    [{ text: 'prompt' }, '{"prompt":"hello"}'],
  ])('puts text under the key that the flow names: %j', async (a2a, payload) => {
    faces.gateway.removeFlow('sharpen');
    faces.gateway.addFlow({ name: 'say', a2a });
    await send(await connected('ann'), request({ $case: 'text', value: 'hello' }));
    expect(faces.gateway.inputOf('task-1').payload).toBe(payload);
  });

  it.each([
    ['"words"', { $case: 'text', value: 'words' }],
    ['null', { $case: 'text', value: 'null' }],
    ['[1,true]', { $case: 'data', value: [1, true] }],
  ])('returns any JSON result: %s', async (payload, content) => {
    faces.gateway.addFlow({ name: 'odd', a2a: {} }, { kind: 'answers', payload });
    const task = await send(await connected('ann'), data({}, { metadata: { skill: 'odd' } }));
    expect(task.artifacts[0]?.parts[0]?.content).toEqual(content);
  });

  it('selects its flow by its metadata, which is optional for a single flow', async () => {
    addHeldFlow();
    const client = await connected('ann');
    const [skill, flow] = [{ skill: 'slow' }, { flow: 'slow' }];
    const both = [data({}, { metadata: skill }), { ...data({}), metadata: flow }];
    for (const params of both)
      expect((await send(client, polling(params))).metadata).toMatchObject({ flow: 'slow' });
    await expect(send(client, data({}))).rejects.toThrow(
      'missing "skill" in the metadata; available: "sharpen", "slow"',
    );
    await expect(send(client, data({}, { metadata: { skill: '<b>' } }))).rejects.toThrow(
      'unknown skill; available: "sharpen", "slow"',
    );
  });

  it('returns the same task if it is sent twice', async () => {
    const client = await connected('ann');
    const params = data({ url: 'a' });
    expect((await send(client, params)).id).toBe((await send(client, params)).id);
  });

  it.each([
    ['failed', { type: 'ValueError', message: 'no such picture' }, 'PolicyExhausted'],
    ['timed out', { type: 'DeadlineExceeded', message: 'envelope timed out' }, 'Timeout'],
  ])('reports the reason if its task %s', async (_what, error, reason) => {
    faces.gateway.addFlow({ name: 'breaks', a2a: {} }, { kind: 'fails', reason, error });
    const task = await send(await connected('ann'), data({}, { metadata: { skill: 'breaks' } }));
    expect(task.status?.state).toBe(TaskState.TASK_STATE_FAILED);
    const text = `${reason}: ${error.type}: ${error.message}`;
    expect(task.status?.message?.parts[0]?.content).toEqual({ $case: 'text', value: text });
    expect(task.artifacts).toEqual([]);
  });

  it('returns when its task is paused', async () => {
    addHeldFlow();
    const client = await connected('ann');
    const answer = send(client, data({}, { metadata: { skill: 'slow' } }));
    const [id = ''] = await faces.gateway.untilCreated(1);
    faces.gateway.advance(id);
    faces.gateway.pause(id);
    expect((await answer).status?.state).toBe(TaskState.TASK_STATE_INPUT_REQUIRED);
  });

  it('is rejected with the place of each error', async () => {
    const client = await connected('ann');
    const refused = send(client, data({ uri: 'a' }));
    await expect(refused).rejects.toBeInstanceOf(RequestMalformedError);
    await expect(refused).rejects.toMatchObject({
      message: expect.stringMatching(/^the input does not match the flow: #: .*url/),
      data: [{ reason: 'INVALID_PARAMS', metadata: { '#': expect.stringContaining('url') } }],
    });
    await expect(send(client, request({ $case: 'url', value: 'https://a' }))).rejects.toBeInstanceOf(
      ContentTypeNotSupportedError,
    );
    await expect(send(client, data({}, { parts: [] }))).rejects.toThrow('one data part, or text');
    await expect(send(client, data({}, { messageId: '' }))).rejects.toBeInstanceOf(RequestMalformedError);
    expect(await faces.gateway.tasks({ id: 'ann' })).toMatchObject({ tasks: [] });
  });

  it('creates no task if it names a task id', async () => {
    const client = await connected('ann');
    await send(client, data({ url: 'a' }));
    await expect(send(client, data({}, { taskId: 'task-1' }))).rejects.toBeInstanceOf(
      UnsupportedOperationError,
    );
    await expect(send(client, data({}, { taskId: 'task-9' }))).rejects.toBeInstanceOf(TaskNotFoundError);
  });

  it('is rejected if it requests push notifications', async () => {
    const client = await connected('ann');
    const push = { tenant: '', id: 'p', taskId: '', url: 'https://a', token: '', authentication: undefined };
    const { configuration } = polling(data({}));
    const params = {
      ...data({ url: 'a' }),
      configuration: { ...configuration, taskPushNotificationConfig: push },
    };
    await expect(client.sendMessage(params)).rejects.toBeInstanceOf(PushNotificationNotSupportedError);
  });

  it('hides an internal error from the client and reports it to the host', async () => {
    faces.gateway.create = () => Promise.reject(new Error('table secret-table is not there'));
    const client = await connected('ann');
    const refused = send(client, data({ url: 'a' }));
    await expect(refused).rejects.toThrow('internal error');
    await expect(refused).rejects.toBeInstanceOf(A2AError);
    expect(faces.bugs).toMatchObject([{ message: 'table secret-table is not there' }]);
  });

  it('returns the current task after the longest wait', async () => {
    await faces.stop();
    faces = await startFaces({ maxWaitMs: 20 });
    addHeldFlow();
    const task = await send(await connected('ann'), data({}));
    expect(task.status?.state).toBe(TaskState.TASK_STATE_SUBMITTED);
  });
});

describe('a stream', () => {
  it('contains the task, its updates, its result and its end', async () => {
    addHeldFlow();
    const client = await connected('ann');
    const received: StreamResponse[] = [];
    const params = data({ n: 1 }, { metadata: { skill: 'slow' }, contextId: 'talk-1' });
    for await (const update of client.sendMessageStream(params)) {
      received.push(update);
      if (received.length < 6) faces.gateway.advance('task-1');
    }
    expect(received.map(summaryOf)).toEqual([
      'task SUBMITTED',
      'statusUpdate WORKING 0 fetch',
      'statusUpdate WORKING 25 enhance',
      'statusUpdate WORKING 50 upload',
      'statusUpdate WORKING 75 thank',
      'artifactUpdate {"n":1}',
      'statusUpdate COMPLETED',
    ]);
    for (const { payload } of received) expect(payload?.value).toMatchObject({ contextId: 'talk-1' });
  });

  it('can be joined later and continues after a pause', async () => {
    addHeldFlow();
    const client = await connected('ann');
    const { id } = await send(client, polling(data({}, { metadata: { skill: 'slow' } })));
    faces.gateway.advance(id);
    const received: string[] = [];
    for await (const update of client.resubscribeTask({ tenant: '', id })) {
      received.push(summaryOf(update));
      if (received.length === 1) faces.gateway.pause(id);
      else if (received.length < 6) faces.gateway.advance(id);
    }
    expect(received).toEqual([
      'task WORKING',
      'statusUpdate INPUT_REQUIRED 0 fetch',
      'statusUpdate WORKING 25 enhance',
      'statusUpdate WORKING 50 upload',
      'statusUpdate WORKING 75 thank',
      'artifactUpdate {}',
      'statusUpdate COMPLETED',
    ]);
    await expect(client.resubscribeTask({ tenant: '', id }).next()).rejects.toBeInstanceOf(
      UnsupportedOperationError,
    );
  });

  it('stops when the client disconnects, and its task continues', async () => {
    addHeldFlow();
    const client = await connected('ann');
    const stop = new AbortController();
    const params = data({}, { metadata: { skill: 'slow' } });
    const stream = client.sendMessageStream(params, { signal: stop.signal });
    await stream.next();
    await expect.poll(() => faces.gateway.listeners()).toBe(1);
    stop.abort();
    await expect.poll(() => faces.gateway.listeners()).toBe(0);
    expect(await client.getTask({ tenant: '', id: 'task-1' })).toMatchObject({ status: { state: 1 } });
    expect(faces.bugs).toEqual([]);
  });

  it('is rejected if the task cannot be created', async () => {
    const client = await connected('ann');
    await expect(client.sendMessageStream(data({})).next()).rejects.toBeInstanceOf(RequestMalformedError);
  });
});

describe('a task', () => {
  it('can be read and canceled by its owner only', async () => {
    addHeldFlow();
    const [ann, bob] = [await connected('ann'), await connected('bob')];
    const { id } = await send(ann, polling(data({}, { metadata: { skill: 'slow' } })));
    const named = { tenant: '', id, metadata: undefined };
    await expect(bob.getTask(named)).rejects.toBeInstanceOf(TaskNotFoundError);
    await expect(bob.cancelTask(named)).rejects.toBeInstanceOf(TaskNotFoundError);
    await expect(bob.resubscribeTask(named).next()).rejects.toBeInstanceOf(TaskNotFoundError);
    await expect(send(bob, data({}, { taskId: id }))).rejects.toBeInstanceOf(TaskNotFoundError);
    expect((await ann.getTask(named)).status?.state).toBe(TaskState.TASK_STATE_SUBMITTED);
    expect((await ann.cancelTask(named)).status?.state).toBe(TaskState.TASK_STATE_CANCELED);
    await expect(ann.cancelTask(named)).rejects.toBeInstanceOf(TaskNotCancelableError);
    expect((await ann.getTask(named)).status?.state).toBe(TaskState.TASK_STATE_CANCELED);
  });

  it('is separate for two clients with the same message ids', async () => {
    const clients = [await connected('ann'), await connected('bob')];
    const tasks = await Promise.all(
      clients.map((client, url) => send(client, data({ url }, { messageId: 'the-same' }))),
    );
    expect(new Set(tasks.map(({ id }) => id)).size).toBe(2);
    expect(tasks.map(({ artifacts }) => artifacts[0]?.parts[0]?.content?.value)).toEqual([
      { url: 0 },
      { url: 1 },
    ]);
  });

  it('cannot be listed over A2A', async () => {
    const client = await connected('ann');
    const all = { tenant: '', contextId: '', status: 0, pageToken: '', statusTimestampAfter: undefined };
    await expect(client.listTasks(all)).rejects.toBeInstanceOf(UnsupportedOperationError);
  });
});

/** One line of text per update. */
function summaryOf({ payload }: StreamResponse): string {
  if (payload?.$case === 'artifactUpdate') {
    return `artifactUpdate ${JSON.stringify(payload.value.artifact?.parts[0]?.content?.value)}`;
  }
  if (payload?.$case !== 'task' && payload?.$case !== 'statusUpdate') return 'nothing';
  const { status, metadata } = payload.value;
  const state = String(TaskState[status?.state ?? 0]).replace('TASK_STATE_', '');
  const { percent, actor } = (payload.$case === 'task' ? undefined : metadata) ?? {};
  return [payload.$case, state, percent, actor].filter((word) => word !== undefined).join(' ');
}
