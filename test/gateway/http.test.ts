import { createHmac } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { anEndOf, aStep } from '../core/a-task.ts';
import { FLOWS } from './gateway-fixture.ts';
import { memoryTasks } from './memory-stores.ts';
import {
  eventsOf,
  MY_KEY,
  NARROW_KEY,
  OTHER_KEY,
  SECRET,
  type ServedFixture,
  serveGateway,
} from './served-fixture.ts';

const EVIL = '<script>alert(1)</script>';

let served: ServedFixture;
beforeAll(async () => {
  served = await serveGateway();
});
afterAll(() => served.close());

async function created(flow = 'enhance', body: unknown = { n: 1 }): Promise<string> {
  const response = await served.post(`/flows/${flow}`, body);
  return (await jsonOf(response)).id;
}

// biome-ignore lint/suspicious/noExplicitAny: the tests check the content
async function jsonOf(response: Response): Promise<any> {
  return response.json();
}

function idOf(id: string) {
  return { task: id, envelope_id: id };
}

/** Expects RFC 9457 problem details that do not repeat input. */
async function expectProblem(response: Response, status: number): Promise<Record<string, unknown>> {
  const text = await response.text();
  expect([response.status, response.headers.get('content-type')]).toEqual([
    status,
    'application/problem+json',
  ]);
  expect(text).not.toContain('script');
  const problem = JSON.parse(text);
  expect(problem).toMatchObject({ type: 'about:blank', status, title: expect.any(String) });
  expect(problem.detail).toEqual(expect.any(String));
  return problem;
}

describe('POST /flows/{name}', () => {
  it('creates a task and returns its location', async () => {
    const response = await served.post('/flows/enhance', { n: 1 }, { prefer: 'respond-async' });
    const task = await jsonOf(response);
    expect([response.status, response.headers.get('location')]).toEqual([201, `/tasks/${task.id}`]);
    expect(task).toMatchObject({
      flow: 'enhance',
      state: 'pending',
      progress: { current: 'fetch', percent: 0 },
      links: { self: `/tasks/${task.id}`, events: `/tasks/${task.id}/events` },
    });
    expect(task).not.toHaveProperty('owner');
    expect(task).not.toHaveProperty('version');
  });

  it('passes the payload on unchanged', async () => {
    const body = ' {"big":12345678901234567890, "big":1} ';
    await served.post('/flows/endless', body);
    expect(served.sent.at(-1)?.body).toContain('"payload":{"big":12345678901234567890, "big":1}');
  });

  it('waits for the end with Prefer: wait', async () => {
    const creating = served.post('/flows/endless', {}, { prefer: 'respond-async, wait=60' });
    while (served.sent.at(-1)?.body.includes('"payload":{}') !== true)
      await new Promise((resolve) => setTimeout(resolve, 10));
    const { id } = JSON.parse(served.sent.at(-1)?.body ?? '');
    await served.gateway.report([anEndOf('failed', idOf(id))]);
    const response = await creating;
    expect([response.status, response.headers.get('preference-applied')]).toEqual([201, 'wait=60']);
    expect(await jsonOf(response)).toMatchObject({ id, state: 'failed', error: { type: 'ValueError' } });
  });

  it('creates one task per Idempotency-Key', async () => {
    const headers = { 'idempotency-key': 'k-1' };
    const first = await served.post('/flows/enhance', { n: 1 }, headers);
    const second = await served.post('/flows/enhance', { n: 1 }, headers);
    expect([first.status, second.status]).toEqual([201, 200]);
    expect(second.headers.get('location')).toBe(first.headers.get('location'));
    await expectProblem(await served.post('/flows/enhance', { n: 2 }, headers), 409);
    await expectProblem(await served.post('/flows/enhance', {}, { 'idempotency-key': 'a b' }), 400);
  });

  it('rejects an invalid input with the place of each error', async () => {
    const problem = await expectProblem(await served.post('/flows/checked', { [EVIL]: EVIL }), 422);
    expect(problem['errors']).toEqual([{ place: '', problem: 'requires ["url"]' }]);
  });

  it('rejects a malformed body, another content type, a large body and an unknown flow', async () => {
    const to = '/flows/enhance';
    for (const body of ['', '{', `{"a":${EVIL}}`]) await expectProblem(await served.post(to, body), 400);
    const bytes = new Uint8Array([0x22, 0xff, 0x22]);
    const headers = { 'content-type': 'application/json' };
    await expectProblem(await served.request(to, { method: 'POST', headers, body: bytes }), 400);
    await expectProblem(await served.post(to, {}, { 'content-type': 'text/plain' }), 415);
    await expectProblem(await served.post(to, 'x'.repeat(1024 * 1024 + 1)), 413);
    await expectProblem(await served.post(to, `"${'x'.repeat(1024 * 1024 - 10)}"`), 422);
    await expectProblem(await served.post(`/flows/${encodeURIComponent(EVIL)}`, {}), 404);
    await expectProblem(await served.post('/flows/%E0%A4%A', {}), 404);
  });

  it('rejects a chunked body that is too large', async () => {
    let sent = 0;
    const body = new ReadableStream({
      pull: (controller) => {
        sent += 65_536;
        if (sent > 2 * 1024 * 1024) controller.close();
        else controller.enqueue(new Uint8Array(65_536).fill(0x20));
      },
    });
    const headers = { 'content-type': 'application/json' };
    const init = { method: 'POST', headers, body, duplex: 'half' } as RequestInit;
    await expectProblem(await served.request('/flows/enhance', init), 413);
  });
});

describe('GET /flows', () => {
  it('lists the flows that the caller may use', async () => {
    const all = await jsonOf(await served.request('/flows'));
    expect(all.flows.map(({ name }: { name: string }) => name)).toEqual(FLOWS.map(({ name }) => name));
    const narrow = await jsonOf(await served.request('/flows', { key: NARROW_KEY }));
    expect(narrow.flows).toEqual([
      { name: 'endless', route: ['fetch'], links: { create: '/flows/endless' } },
    ]);
  });
});

describe('GET /tasks', () => {
  it("lists the caller's tasks, newest first", async () => {
    const id = await created();
    const mine = await jsonOf(await served.request('/tasks'));
    expect(mine.tasks[0]).toMatchObject({ id, state: 'pending' });
    expect(await jsonOf(await served.request('/tasks', { key: OTHER_KEY }))).toEqual({ tasks: [] });
  });
});

describe('GET /tasks/{id}', () => {
  it('returns the task, with its result once it succeeded', async () => {
    const id = await created();
    await served.gateway.report([
      aStep('processing', 1, idOf(id)),
      aStep('received', 1, { ...idOf(id), envelope_id: 'c-1' }),
    ]);
    expect(await jsonOf(await served.request(`/tasks/${id}`))).toMatchObject({
      state: 'running',
      progress: { done: ['fetch'], current: 'score', left: ['store'], percent: 33 },
      children: { 'c-1': { state: 'running', actor: 'score' } },
    });
    served.archive.keep(
      { ...RECORD, envelopeId: id, archiveKey: `k-${id}` },
      JSON.stringify({ id, route: { prev: ['store'], curr: '', next: [] }, payload: 'P' }).replace(
        '"P"',
        '{"a": 1e400}',
      ),
    );
    await served.gateway.report([anEndOf('succeeded', { ...idOf(id), archive_key: `k-${id}` })]);
    const text = await (await served.request(`/tasks/${id}`)).text();
    expect(text).toContain('"result":{"a": 1e400}');
    expect(JSON.parse(text)).toMatchObject({ state: 'succeeded', progress: { percent: 100 } });
  });

  it('is not found for another caller or an unknown id', async () => {
    const id = await created();
    for (const path of [`/tasks/${id}`, `/tasks/${id}/events`])
      await expectProblem(await served.request(path, { key: OTHER_KEY }), 404);
    await expectProblem(await served.request(`/tasks/${id}`, { key: OTHER_KEY, method: 'DELETE' }), 404);
    await expectProblem(await served.request(`/tasks/${encodeURIComponent(EVIL)}`), 404);
    await expectProblem(await served.request(`/tasks/${encodeURIComponent(EVIL)}/events`), 404);
    expect(served.tasks.all.get(id)?.state).toBe('pending');
  });
});

const RECORD = {
  identity: 'r',
  end: 'succeeded',
  actor: 'store',
  hop: 3,
  reason: 'Completed',
  atMs: 1,
} as const;

describe('DELETE /tasks/{id}', () => {
  it('cancels a running task, and rejects an ended one', async () => {
    const id = await created();
    const response = await served.request(`/tasks/${id}`, { method: 'DELETE' });
    expect([response.status, (await jsonOf(response)).state]).toEqual([200, 'canceled']);
    expect((await served.request(`/tasks/${id}`, { method: 'DELETE' })).status).toBe(200);
    const ended = await created();
    await served.gateway.report([anEndOf('succeeded', idOf(ended))]);
    await expectProblem(await served.request(`/tasks/${ended}`, { method: 'DELETE' }), 409);
  });
});

describe('GET /tasks/{id}/events', () => {
  /** A client that has received the first event. */
  async function watching(
    id: string,
    headers: Readonly<Record<string, string>> = {},
  ): Promise<{ events: ReturnType<typeof eventsOf> }> {
    const response = await served.request(`/tasks/${id}/events`, { headers });
    const [first, all] = response.body?.tee() ?? [];
    await eventsOf(new Response(first), 1);
    return { events: eventsOf(new Response(all)) };
  }

  it('streams the same events to a late and to a reconnecting client', async () => {
    const id = await created();
    const report = (...reports: Parameters<ServedFixture['gateway']['report']>[0]) =>
      served.gateway.report(reports);
    const early = await watching(id);
    const broken = eventsOf(await served.request(`/tasks/${id}/events`), 2);
    await report(aStep('received', 0, idOf(id)));
    const before = await broken;
    await report(aStep('processing', 0, idOf(id)), aStep('completed', 0, idOf(id)));
    const late = await watching(id);
    const again = await watching(id, { 'last-event-id': String(before.at(-1)?.id) });
    await report(aStep('received', 1, idOf(id)), anEndOf('succeeded', idOf(id)));
    const [whole, part, rest] = await Promise.all([early.events, late.events, again.events]);
    expect(whole.map(({ id: seq, event }) => [seq, event])).toEqual([
      [1, 'created'],
      [2, 'received'],
      [3, 'processing'],
      [4, 'completed'],
      [5, 'received'],
      [6, 'ended'],
    ]);
    expect([...before, ...rest]).toEqual(whole);
    expect(part).toEqual(whole.slice(3));
    expect(whole.at(-1)?.data).toMatchObject({ task: id, state: 'succeeded', progress: { percent: 100 } });
  });

  it('streams the end of an ended task, then answers 204', async () => {
    const id = await created();
    await served.gateway.report([anEndOf('failed', idOf(id))]);
    const [ended, ...more] = await eventsOf(await served.request(`/tasks/${id}/events`));
    expect([ended?.data.state, more]).toEqual(['failed', []]);
    const again = await served.request(`/tasks/${id}/events`, {
      headers: { 'last-event-id': String(ended?.id) },
    });
    expect(again.status).toBe(204);
  });

  it('rejects HEAD without opening a stream', async () => {
    let reads = 0;
    const tasks = memoryTasks(async (what) => {
      if (what === 'read') reads++;
    });
    const counted = await serveGateway({}, { tasks });
    const { id } = await jsonOf(await counted.post('/flows/endless', {}));
    const response = await counted.request(`/tasks/${id}/events`, { method: 'HEAD' });
    expect([response.status, response.headers.get('allow')]).toEqual([405, 'GET']);
    const before = reads;
    await new Promise((resolve) => setTimeout(resolve, 600));
    expect(reads).toBe(before);
    await counted.close();
  });

  it('ends the stream and logs an internal error', async () => {
    const gateway: ServedFixture['gateway'] = {
      ...served.gateway,
      events: async () => ({
        [Symbol.asyncIterator]: () => ({ next: () => Promise.reject(new Error(`bug ${EVIL}`)) }),
      }),
    };
    const buggy = await serveGateway({ gateway });
    const response = await buggy.request(`/tasks/${await created()}/events`);
    expect(await response.text()).not.toContain('bug');
    expect(buggy.telemetry.warnings).toEqual(['internal error in the gateway']);
    await buggy.close();
  });

  it('sends keep-alive comments', async () => {
    const quick = await serveGateway({ keepAliveMs: 20 });
    const { id } = await jsonOf(await quick.post('/flows/endless', {}));
    const response = await quick.request(`/tasks/${id}/events`);
    expect(response.headers.get('content-type')).toBe('text/event-stream');
    let text = '';
    for await (const chunk of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
      text += chunk;
      if (text.includes(': keep-alive')) break;
    }
    expect(text).toContain('event: created');
    await quick.close();
  });
});

describe('POST /reports', () => {
  function signed(body: string, seconds = Math.floor(Date.now() / 1000), secret = SECRET): RequestInit {
    const mac = createHmac('sha256', secret).update(`${seconds}.${body}`).digest('hex');
    const headers = { 'content-type': 'application/json', 'x-asya-signature': `t=${seconds},v1=${mac}` };
    return { method: 'POST', headers, body };
  }

  it('accepts signed reports and returns canceled tasks', async () => {
    const [running, canceled] = [await created(), await created()];
    await served.request(`/tasks/${canceled}`, { method: 'DELETE' });
    const reports = [aStep('received', 0, idOf(running)), aStep('received', 0, idOf(canceled))];
    const response = await served.request('/reports', { key: '', ...signed(JSON.stringify({ reports })) });
    expect(response.status).toBe(200);
    const named = new Set((await jsonOf(response)).canceled);
    // The answer names other tasks that were canceled recently, too.
    expect([named.has(canceled), named.has(running)]).toEqual([true, false]);
    expect(served.tasks.all.get(running)?.state).toBe('running');
  });

  it('rejects unsigned and wrongly signed reports', async () => {
    const id = await created();
    const body = JSON.stringify({ reports: [anEndOf('succeeded', idOf(id))] });
    const now = Math.floor(Date.now() / 1000);
    for (const init of [
      signed(body, now - 301),
      signed(body, now + 3_600),
      signed(body, now, 'another secret'),
      { ...signed(body), body: `${body} ` },
      { method: 'POST', headers: { 'content-type': 'application/json' }, body },
      { ...signed(body), headers: { 'content-type': 'application/json', 'x-asya-signature': EVIL } },
    ]) {
      await expectProblem(await served.request('/reports', { ...init, key: MY_KEY }), 401);
    }
    expect(served.tasks.all.get(id)?.state).toBe('pending');
  });

  it.each(['[]', '{', '{"reports":[{}]}', '{"reports":7}', '{"reports":[{"task":"t","event":"final"}]}'])(
    'rejects an invalid body: %s',
    async (body) => {
      await expectProblem(await served.request('/reports', signed(body)), 400);
    },
  );

  it('answers 503 if a report could not be stored', async () => {
    served.tasks.problem = `down ${EVIL}`;
    const body = JSON.stringify({ reports: [anEndOf()] });
    await expectProblem(await served.request('/reports', signed(body)), 503);
    await expectProblem(await served.request('/tasks/t-1'), 503);
    await expectProblem(await served.request('/tasks'), 503);
    await expectProblem(await served.post('/flows/endless', {}), 503);
    delete served.tasks.problem;
  });
});

describe('other paths', () => {
  it('serve health without a key, and an OpenAPI document', async () => {
    expect(await jsonOf(await served.request('/healthz', { key: '' }))).toEqual({ status: 'ok' });
    const api = await jsonOf(await served.request('/openapi.json'));
    expect(Object.keys(api.paths)).toContain('/flows/checked');
    expect(api.paths['/flows/checked'].post.requestBody.content['application/json'].schema).toEqual(
      FLOWS[2]?.mcp?.inputSchema,
    );
  });

  it('answer unknown paths and methods with problem details', async () => {
    await expectProblem(await served.request(`/nothing/${encodeURIComponent(EVIL)}`), 404);
    for (const [path, allow] of [
      ['/flows', 'GET'],
      ['/tasks', 'GET'],
      ['/healthz', 'GET'],
      ['/tasks/t-1/events', 'GET'],
    ] as const) {
      const response = await served.request(path, { method: 'PUT' });
      expect(response.headers.get('allow')).toBe(allow);
      await expectProblem(response, 405);
    }
    expect((await served.request('/tasks/t-1', { method: 'POST' })).headers.get('allow')).toBe('GET, DELETE');
  });

  it('log internal errors without details for the client', async () => {
    const gateway = {
      ...served.gateway,
      flows: () => {
        throw new Error(`bug ${EVIL}`);
      },
    };
    const buggy = await serveGateway({ gateway });
    await expectProblem(await buggy.request('/flows'), 500);
    expect(buggy.telemetry.warnings).toEqual(['internal error in the gateway']);
    await buggy.close();
  });

  it('authenticate callers of other faces', async () => {
    const other = await serveGateway();
    other.face.mountFace(
      (app) => {
        app.all('/mcp', (c) => c.json({ caller: c.get('caller').id }));
        app.get('/card', (c) => c.json('open'));
      },
      ['/card'],
    );
    expect(await (await other.request('/mcp')).json()).toEqual({ caller: 'key:me' });
    await expectProblem(await other.request('/mcp', { key: '' }), 401);
    expect((await other.request('/card', { key: '' })).status).toBe(200);
    await other.close();
  });
});

describe('a caller', () => {
  it('is limited in concurrent requests, streams included', async () => {
    const narrow = await serveGateway({ maxConcurrentRequests: 2 });
    const { id } = await jsonOf(await narrow.post('/flows/endless', {}));
    const streams = [new AbortController(), new AbortController()];
    for (const { signal } of streams) {
      expect((await narrow.request(`/tasks/${id}/events`, { signal })).status).toBe(200);
    }
    await expectProblem(await narrow.request(`/tasks/${id}/events`), 429);
    await expectProblem(await narrow.request('/tasks'), 429);
    expect((await narrow.request('/tasks', { key: OTHER_KEY })).status).toBe(200);
    streams[0]?.abort();
    await expect.poll(async () => (await narrow.request('/tasks')).status, { timeout: 30_000 }).toBe(200);
    // A stream that ends releases its slot, and a rejected request takes none.
    await narrow.gateway.report([anEndOf('succeeded', idOf(id))]);
    await expect
      .poll(
        async () =>
          (await Promise.all([narrow.request('/tasks'), narrow.request('/flows')])).map(
            ({ status }) => status,
          ),
        { timeout: 30_000 },
      )
      .toEqual([200, 200]);
    streams[1]?.abort();
    await narrow.close();
  });

  it('is limited in its rate, independent of others', async () => {
    const slow = await serveGateway({ rate: { perSecond: 0.01, burst: 3 } });
    for (let nth = 0; nth < 3; nth++) expect((await slow.request('/flows')).status).toBe(200);
    const response = await slow.request('/flows');
    expect(Number(response.headers.get('retry-after'))).toBeGreaterThan(0);
    await expectProblem(response, 429);
    expect((await slow.request('/flows', { key: OTHER_KEY })).status).toBe(200);
    await slow.close();
  });
});
