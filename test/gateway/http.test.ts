import { createHmac } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { anEndOf, aStep } from '../core/a-task.ts';
import { FLOWS } from './a-gateway.ts';
import {
  eventsOf,
  MY_KEY,
  NARROW_KEY,
  OTHER_KEY,
  SECRET,
  type Served,
  serveGateway,
} from './a-served-gateway.ts';
import { memoryTasks } from './memory-stores.ts';

const EVIL = '<script>alert(1)</script>';

let served: Served;
beforeAll(async () => {
  served = await serveGateway();
});
afterAll(() => served.close());

async function created(flow = 'enhance', body: unknown = { n: 1 }): Promise<string> {
  const response = await served.post(`/flows/${flow}`, body);
  return (await jsonOf(response)).id;
}

// biome-ignore lint/suspicious/noExplicitAny: what is in it is what the test is about
async function jsonOf(response: Response): Promise<any> {
  return response.json();
}

function idOf(id: string) {
  return { task: id, envelope_id: id };
}

/** A problem as RFC 9457 has it, without a word of what was sent. */
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
  it('makes a task and says where it is', async () => {
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

  it('hands the payload on as it came', async () => {
    const body = ' {"big":12345678901234567890, "big":1} ';
    await served.post('/flows/endless', body);
    expect(served.sent.at(-1)?.body).toContain('"payload":{"big":12345678901234567890, "big":1}');
  });

  it('waits for the end where that is preferred', async () => {
    const asking = served.post('/flows/endless', {}, { prefer: 'respond-async, wait=60' });
    while (served.sent.at(-1)?.body.includes('"payload":{}') !== true)
      await new Promise((resolve) => setTimeout(resolve, 10));
    const { id } = JSON.parse(served.sent.at(-1)?.body ?? '');
    await served.gateway.report([anEndOf('failed', idOf(id))]);
    const response = await asking;
    expect([response.status, response.headers.get('preference-applied')]).toEqual([201, 'wait=60']);
    expect(await jsonOf(response)).toMatchObject({ id, state: 'failed', error: { type: 'ValueError' } });
  });

  it('makes one task with one Idempotency-Key', async () => {
    const headers = { 'idempotency-key': 'k-1' };
    const first = await served.post('/flows/enhance', { n: 1 }, headers);
    const second = await served.post('/flows/enhance', { n: 1 }, headers);
    expect([first.status, second.status]).toEqual([201, 200]);
    expect(second.headers.get('location')).toBe(first.headers.get('location'));
    await expectProblem(await served.post('/flows/enhance', { n: 2 }, headers), 409);
    await expectProblem(await served.post('/flows/enhance', {}, { 'idempotency-key': 'a b' }), 400);
  });

  it('refuses what the flow does not take, place by place', async () => {
    const problem = await expectProblem(await served.post('/flows/checked', { [EVIL]: EVIL }), 422);
    expect(problem['errors']).toEqual([{ place: '', problem: 'requires ["url"]' }]);
  });

  it('refuses what is malformed, of another type, too big or for no flow', async () => {
    const to = '/flows/enhance';
    for (const body of ['', '{', `{"a":${EVIL}}`]) await expectProblem(await served.post(to, body), 400);
    const bytes = new Uint8Array([0x22, 0xff, 0x22]);
    const headers = { 'content-type': 'application/json' };
    await expectProblem(await served.ask(to, { method: 'POST', headers, body: bytes }), 400);
    await expectProblem(await served.post(to, {}, { 'content-type': 'text/plain' }), 415);
    await expectProblem(await served.post(to, 'x'.repeat(1024 * 1024 + 1)), 413);
    await expectProblem(await served.post(to, `"${'x'.repeat(1024 * 1024 - 10)}"`), 422);
    await expectProblem(await served.post(`/flows/${encodeURIComponent(EVIL)}`, {}), 404);
    await expectProblem(await served.post('/flows/%E0%A4%A', {}), 404);
  });

  it('refuses a body without a length that goes on for too long', async () => {
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
    await expectProblem(await served.ask('/flows/enhance', init), 413);
  });
});

describe('GET /flows', () => {
  it('tells the flows that the caller may use', async () => {
    const all = await jsonOf(await served.ask('/flows'));
    expect(all.flows.map(({ name }: { name: string }) => name)).toEqual(FLOWS.map(({ name }) => name));
    const narrow = await jsonOf(await served.ask('/flows', { key: NARROW_KEY }));
    expect(narrow.flows).toEqual([
      { name: 'endless', route: ['fetch'], links: { create: '/flows/endless' } },
    ]);
  });
});

describe('GET /tasks', () => {
  it('tells one’s own, newest first', async () => {
    const id = await created();
    const mine = await jsonOf(await served.ask('/tasks'));
    expect(mine.tasks[0]).toMatchObject({ id, state: 'pending' });
    expect(await jsonOf(await served.ask('/tasks', { key: OTHER_KEY }))).toEqual({ tasks: [] });
  });
});

describe('GET /tasks/{id}', () => {
  it('tells how it stands, and its result once it succeeded', async () => {
    const id = await created();
    await served.gateway.report([
      aStep('processing', 1, idOf(id)),
      aStep('received', 1, { ...idOf(id), envelope_id: 'c-1' }),
    ]);
    expect(await jsonOf(await served.ask(`/tasks/${id}`))).toMatchObject({
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
    const text = await (await served.ask(`/tasks/${id}`)).text();
    expect(text).toContain('"result":{"a": 1e400}');
    expect(JSON.parse(text)).toMatchObject({ state: 'succeeded', progress: { percent: 100 } });
  });

  it('is nothing for somebody else, and for nobody’s id', async () => {
    const id = await created();
    for (const path of [`/tasks/${id}`, `/tasks/${id}/events`])
      await expectProblem(await served.ask(path, { key: OTHER_KEY }), 404);
    await expectProblem(await served.ask(`/tasks/${id}`, { key: OTHER_KEY, method: 'DELETE' }), 404);
    await expectProblem(await served.ask(`/tasks/${encodeURIComponent(EVIL)}`), 404);
    await expectProblem(await served.ask(`/tasks/${encodeURIComponent(EVIL)}/events`), 404);
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
  it('cancels, and not what has ended', async () => {
    const id = await created();
    const response = await served.ask(`/tasks/${id}`, { method: 'DELETE' });
    expect([response.status, (await jsonOf(response)).state]).toEqual([200, 'canceled']);
    expect((await served.ask(`/tasks/${id}`, { method: 'DELETE' })).status).toBe(200);
    const ended = await created();
    await served.gateway.report([anEndOf('succeeded', idOf(ended))]);
    await expectProblem(await served.ask(`/tasks/${ended}`, { method: 'DELETE' }), 409);
  });
});

describe('GET /tasks/{id}/events', () => {
  /** Somebody who has seen the first event: what happens from now on comes after it. */
  async function watching(
    id: string,
    headers: Readonly<Record<string, string>> = {},
  ): Promise<{ story: ReturnType<typeof eventsOf> }> {
    const response = await served.ask(`/tasks/${id}/events`, { headers });
    const [first, all] = response.body?.tee() ?? [];
    await eventsOf(new Response(first), 1);
    return { story: eventsOf(new Response(all)) };
  }

  it('tells two clients the same story, one of them late, one of them reconnecting', async () => {
    const id = await created();
    const say = (...reports: Parameters<Served['gateway']['report']>[0]) => served.gateway.report(reports);
    const early = await watching(id);
    const broken = eventsOf(await served.ask(`/tasks/${id}/events`), 2);
    await say(aStep('received', 0, idOf(id)));
    const before = await broken;
    await say(aStep('processing', 0, idOf(id)), aStep('completed', 0, idOf(id)));
    const late = await watching(id);
    const again = await watching(id, { 'last-event-id': String(before.at(-1)?.id) });
    await say(aStep('received', 1, idOf(id)), anEndOf('succeeded', idOf(id)));
    const [whole, part, rest] = await Promise.all([early.story, late.story, again.story]);
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

  it('of a task that has ended has its end, and then no more', async () => {
    const id = await created();
    await served.gateway.report([anEndOf('failed', idOf(id))]);
    const [ended, ...more] = await eventsOf(await served.ask(`/tasks/${id}/events`));
    expect([ended?.data.state, more]).toEqual(['failed', []]);
    const again = await served.ask(`/tasks/${id}/events`, {
      headers: { 'last-event-id': String(ended?.id) },
    });
    expect(again.status).toBe(204);
  });

  it('is not begun for who asks for its head alone: nobody would read it, and nothing would end it', async () => {
    let reads = 0;
    const tasks = memoryTasks(async (what) => {
      if (what === 'read') reads++;
    });
    const counted = await serveGateway({}, { tasks });
    const { id } = await jsonOf(await counted.post('/flows/endless', {}));
    const response = await counted.ask(`/tasks/${id}/events`, { method: 'HEAD' });
    expect([response.status, response.headers.get('allow')]).toEqual([405, 'GET']);
    const before = reads;
    await new Promise((resolve) => setTimeout(resolve, 600));
    expect(reads).toBe(before);
    await counted.close();
  });

  it('that meets a bug ends, and tells the log', async () => {
    const gateway: Served['gateway'] = {
      ...served.gateway,
      events: async () => ({
        [Symbol.asyncIterator]: () => ({ next: () => Promise.reject(new Error(`bug ${EVIL}`)) }),
      }),
    };
    const buggy = await serveGateway({ gateway });
    const response = await buggy.ask(`/tasks/${await created()}/events`);
    expect(await response.text()).not.toContain('bug');
    expect(buggy.told.troubles).toEqual(['internal error in the gateway']);
    await buggy.close();
  });

  it('is kept alive by comments', async () => {
    const quick = await serveGateway({ keepAliveMs: 20 });
    const { id } = await jsonOf(await quick.post('/flows/endless', {}));
    const response = await quick.ask(`/tasks/${id}/events`);
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

  it('takes what is signed, and tells what was canceled', async () => {
    const [running, canceled] = [await created(), await created()];
    await served.ask(`/tasks/${canceled}`, { method: 'DELETE' });
    const reports = [aStep('received', 0, idOf(running)), aStep('received', 0, idOf(canceled))];
    const response = await served.ask('/reports', { key: '', ...signed(JSON.stringify({ reports })) });
    expect([response.status, await jsonOf(response)]).toEqual([200, { canceled: [canceled] }]);
    expect(served.tasks.all.get(running)?.state).toBe('running');
  });

  it('takes nothing that is not', async () => {
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
      await expectProblem(await served.ask('/reports', { ...init, key: MY_KEY }), 401);
    }
    expect(served.tasks.all.get(id)?.state).toBe('pending');
  });

  it.each(['[]', '{', '{"reports":[{}]}', '{"reports":7}', '{"reports":[{"task":"t","event":"final"}]}'])(
    'refuses what is none: %s',
    async (body) => {
      await expectProblem(await served.ask('/reports', signed(body)), 400);
    },
  );

  it('says where a report could not be noted', async () => {
    served.tasks.problem = `down ${EVIL}`;
    const body = JSON.stringify({ reports: [anEndOf()] });
    await expectProblem(await served.ask('/reports', signed(body)), 503);
    await expectProblem(await served.ask('/tasks/t-1'), 503);
    await expectProblem(await served.ask('/tasks'), 503);
    await expectProblem(await served.post('/flows/endless', {}), 503);
    delete served.tasks.problem;
  });
});

describe('the rest', () => {
  it('is health, without a key, and a description of it all', async () => {
    expect(await jsonOf(await served.ask('/healthz', { key: '' }))).toEqual({ status: 'ok' });
    const api = await jsonOf(await served.ask('/openapi.json'));
    expect(Object.keys(api.paths)).toContain('/flows/checked');
    expect(api.paths['/flows/checked'].post.requestBody.content['application/json'].schema).toEqual(
      FLOWS[2]?.mcp?.inputSchema,
    );
  });

  it('is a problem', async () => {
    await expectProblem(await served.ask(`/nothing/${encodeURIComponent(EVIL)}`), 404);
    for (const [path, allow] of [
      ['/flows', 'GET'],
      ['/tasks', 'GET'],
      ['/healthz', 'GET'],
      ['/tasks/t-1/events', 'GET'],
    ] as const) {
      const response = await served.ask(path, { method: 'PUT' });
      expect(response.headers.get('allow')).toBe(allow);
      await expectProblem(response, 405);
    }
    expect((await served.ask('/tasks/t-1', { method: 'POST' })).headers.get('allow')).toBe('GET, DELETE');
  });

  it('of our own bugs is told to nobody but the log', async () => {
    const gateway = {
      ...served.gateway,
      flows: () => {
        throw new Error(`bug ${EVIL}`);
      },
    };
    const buggy = await serveGateway({ gateway });
    await expectProblem(await buggy.ask('/flows'), 500);
    expect(buggy.told.troubles).toEqual(['internal error in the gateway']);
    await buggy.close();
  });

  it('is for other faces, behind the same door', async () => {
    const other = await serveGateway();
    other.face.mountFace(
      (app) => {
        app.all('/mcp', (c) => c.json({ caller: c.get('caller').id }));
        app.get('/card', (c) => c.json('open'));
      },
      ['/card'],
    );
    expect(await (await other.ask('/mcp')).json()).toEqual({ caller: 'key:me' });
    await expectProblem(await other.ask('/mcp', { key: '' }), 401);
    expect((await other.ask('/card', { key: '' })).status).toBe(200);
    await other.close();
  });
});

describe('a caller', () => {
  it('has so many requests under way, streams included, until it ends one', async () => {
    const narrow = await serveGateway({ maxConcurrentRequests: 2 });
    const { id } = await jsonOf(await narrow.post('/flows/endless', {}));
    const streams = [new AbortController(), new AbortController()];
    for (const { signal } of streams) {
      expect((await narrow.ask(`/tasks/${id}/events`, { signal })).status).toBe(200);
    }
    await expectProblem(await narrow.ask(`/tasks/${id}/events`), 429);
    await expectProblem(await narrow.ask('/tasks'), 429);
    expect((await narrow.ask('/tasks', { key: OTHER_KEY })).status).toBe(200);
    streams[0]?.abort();
    await expect.poll(async () => (await narrow.ask('/tasks')).status, { timeout: 30_000 }).toBe(200);
    // One that ends by itself makes room too, and what is refused takes none.
    await narrow.gateway.report([anEndOf('succeeded', idOf(id))]);
    await expect
      .poll(
        async () =>
          (await Promise.all([narrow.ask('/tasks'), narrow.ask('/flows')])).map(({ status }) => status),
        { timeout: 30_000 },
      )
      .toEqual([200, 200]);
    streams[1]?.abort();
    await narrow.close();
  });

  it('is let in so often, and no other pays for it', async () => {
    const slow = await serveGateway({ rate: { perSecond: 0.01, burst: 3 } });
    for (let nth = 0; nth < 3; nth++) expect((await slow.ask('/flows')).status).toBe(200);
    const response = await slow.ask('/flows');
    expect(Number(response.headers.get('retry-after'))).toBeGreaterThan(0);
    await expectProblem(response, 429);
    expect((await slow.ask('/flows', { key: OTHER_KEY })).status).toBe(200);
    await slow.close();
  });
});
