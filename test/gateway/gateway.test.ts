import { describe, expect, it } from 'vitest';
import { isFinal, type TaskEvent } from '../../lib/core/task/task.ts';
import { virtualClock } from '../app/virtual-clock.ts';
import { NOW } from '../core/a-delivery.ts';
import { anEndOf, aStep } from '../core/a-task.ts';
import { type FixtureOptions, type GatewayFixture, gatewayFixture, ME, PAYLOAD } from './gateway-fixture.ts';

const OTHER = { id: 'somebody else' };
const DOWN = { ok: false, problem: 'the broker refused' } as const;
const A_RECORD = {
  identity: 'r',
  envelopeId: 't-1',
  end: 'succeeded',
  actor: 'store',
  hop: 3,
  reason: 'Completed',
  atMs: NOW,
  archiveKey: 'succeeded/t-1.json',
} as const;
const AN_END = JSON.stringify({
  id: 't-1',
  route: { prev: ['fetch', 'score', 'store'], curr: '', next: [] },
  headers: { 'x-asya-task': 't-1' },
  payload: { big: 1 },
  status: { phase: 'succeeded', reason: 'Completed', actor: 'store' },
}).replace('{"big":1}', '{"big":12345678901234567890}');

function makeFixture(
  options: Partial<FixtureOptions> = {},
): GatewayFixture & { clock: ReturnType<typeof virtualClock> } {
  const clock = virtualClock();
  return { ...gatewayFixture({ clock, ...options }), clock };
}

async function collect(events: AsyncIterable<TaskEvent> | undefined): Promise<readonly TaskEvent[]> {
  const all: TaskEvent[] = [];
  for await (const event of events ?? []) all.push(event);
  return all;
}

describe('creating a task', () => {
  it('stores the task, arms its backstop and sends its envelope', async () => {
    const { gateway, sent, timers } = makeFixture();
    const created = await gateway.create(ME, 'enhance', PAYLOAD, {
      traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
    });
    expect(created).toMatchObject({
      ok: true,
      isNew: true,
      task: { id: 't-1', state: 'pending', owner: 'me' },
    });
    expect(sent.map(({ actor, body }) => [actor, JSON.parse(body)])).toEqual([
      [
        'fetch',
        {
          id: 't-1',
          route: { prev: [], curr: 'fetch', next: ['score', 'store'] },
          headers: {
            'x-asya-task': 't-1',
            'x-asya-flow': 'enhance',
            traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
          },
          payload: { n: 1 },
          status: {
            phase: 'pending',
            attempt: 1,
            created_at: '2026-01-01T00:00:00Z',
            updated_at: '2026-01-01T00:00:00Z',
            deadline_at: '2026-01-01T00:02:00Z',
          },
        },
      ],
    ]);
    expect(timers).toEqual([{ task: 't-1', dueMs: NOW + 120_000 }]);
  });

  it.each([
    ['00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01', true],
    ['00-broken\n', false],
    ['x'.repeat(9_999), false],
  ])('copies a valid traceparent to the envelope: %#', async (traceparent, isCopied) => {
    const { gateway, sent } = makeFixture();
    await gateway.create(ME, 'endless', PAYLOAD, { traceparent });
    const [{ headers }] = sent.map(({ body }) => JSON.parse(body)) as [{ headers: object }];
    expect('traceparent' in headers).toBe(isCopied);
  });

  it('arms no timer for a flow without a timeout', async () => {
    const { gateway, sent, timers } = makeFixture();
    await gateway.create(ME, 'endless', PAYLOAD);
    expect([timers, JSON.parse(sent[0]?.body ?? '').status.deadline_at]).toEqual([[], undefined]);
  });

  it.each([
    ['nothing', ME],
    ['enhance', { id: 'me', flows: ['endless'] }],
  ])('rejects a flow that does not exist or is not allowed: %s', async (flow, caller) => {
    const { gateway, sent } = makeFixture();
    expect(await gateway.create(caller, flow, PAYLOAD)).toMatchObject({ ok: false, kind: 'not-found' });
    expect(sent).toEqual([]);
  });

  it('rejects an invalid or oversized input', async () => {
    const faults = [{ place: '/url', problem: 'is missing' }];
    const { gateway, tasks } = makeFixture({ checkInput: () => faults, maxBodyBytes: 20 });
    expect(await gateway.create(ME, 'checked', PAYLOAD)).toMatchObject({ kind: 'invalid', errors: faults });
    expect(await gateway.create(ME, 'endless', PAYLOAD)).toMatchObject({ kind: 'invalid' });
    expect(tasks.all.size).toBe(0);
  });

  it('stores nothing if the backstop cannot be armed', async () => {
    const { gateway, tasks, telemetry, sent } = makeFixture({ arm: async () => DOWN });
    const refused = await gateway.create(ME, 'enhance', PAYLOAD, { idempotencyKey: 'k' });
    expect(refused).toMatchObject({ ok: false, kind: 'unavailable' });
    expect(JSON.stringify(refused)).not.toContain('broker');
    expect([tasks.all.size, telemetry.warnings, sent]).toEqual([
      0,
      ['the timer of the deadline could not be set'],
      [],
    ]);
  });

  it('has armed the backstop of each task that is stored, whatever happens afterwards', async () => {
    const fixture = makeFixture();
    const { create } = fixture.tasks;
    let armedBefore: readonly unknown[] = [];
    fixture.tasks.create = async (task) => {
      armedBefore = [...fixture.timers];
      return create(task);
    };
    await fixture.gateway.create(ME, 'enhance', PAYLOAD);
    expect(armedBefore).toEqual([{ task: 't-1', dueMs: NOW + 120_000 }]);
  });

  it('stores a failed task and logs it if it cannot send', async () => {
    const { gateway, tasks, telemetry, sent } = makeFixture({ send: async () => DOWN });
    const refused = await gateway.create(ME, 'enhance', PAYLOAD);
    expect(refused).toMatchObject({ ok: false, kind: 'unavailable' });
    expect(JSON.stringify(refused)).not.toContain('broker');
    expect([tasks.all.get('t-1')?.state, telemetry.warnings, sent]).toEqual([
      'failed',
      ['the envelope could not be sent'],
      [],
    ]);
  });

  it('sends nothing if the task cannot be stored', async () => {
    const fixture = makeFixture();
    fixture.tasks.problem = 'down';
    expect(await fixture.gateway.create(ME, 'enhance', PAYLOAD)).toMatchObject({ kind: 'unavailable' });
    expect(fixture.sent).toEqual([]);
  });

  it.each([[{}], [{ idempotencyKey: 'k' }]])(
    'sends the envelope of a task that is stored although the answer was lost, with %j',
    async (options) => {
      const { gateway, tasks, sent, timers } = makeFixture();
      const { create } = tasks;
      tasks.create = async (task) => {
        await create(task);
        return { ok: false, problem: 'connection lost' };
      };
      const created = await gateway.create(ME, 'enhance', PAYLOAD, options);
      expect(created).toMatchObject({ ok: true, isNew: true, task: { id: 't-1', state: 'pending' } });
      expect([sent.length, timers.length]).toEqual([1, 1]);
    },
  );

  it('creates one task per idempotency key and rejects the key for another request', async () => {
    const { gateway, sent } = makeFixture();
    const options = { idempotencyKey: 'k' };
    await gateway.create(ME, 'enhance', PAYLOAD, options);
    expect(await gateway.create(ME, 'enhance', PAYLOAD, options)).toMatchObject({
      isNew: false,
      task: { id: 't-1' },
    });
    expect(await gateway.create(ME, 'endless', PAYLOAD, options)).toMatchObject({ kind: 'conflict' });
    expect(await gateway.create(OTHER, 'enhance', PAYLOAD, options)).toMatchObject({ isNew: true });
    expect(sent).toHaveLength(2);
  });

  it('allows a retry with a key whose envelope could not be sent', async () => {
    let isDown = true;
    const { gateway } = makeFixture({ send: async () => (isDown ? DOWN : { ok: true }) });
    const options = { idempotencyKey: 'k' };
    expect(await gateway.create(ME, 'enhance', PAYLOAD, options)).toMatchObject({ ok: false });
    isDown = false;
    expect(await gateway.create(ME, 'enhance', PAYLOAD, options)).toMatchObject({ ok: true, isNew: true });
  });

  it('sends the envelope of a crashed request once, after a minute', async () => {
    let isCrashing = true;
    const { gateway, sent, timers, clock } = makeFixture({
      send: async () => {
        if (isCrashing) throw new Error('the process is gone');
        return { ok: true };
      },
    });
    const create = () => gateway.create(ME, 'enhance', PAYLOAD, { idempotencyKey: 'k' });
    await expect(create()).rejects.toThrow('gone');
    isCrashing = false;
    // The first request may still be running.
    expect(await create()).toMatchObject({ isNew: false, task: { id: 't-1', state: 'pending' } });
    expect(sent).toEqual([]);
    await clock.pass(60_000);
    for (let time = 0; time < 2; time++) expect(await create()).toMatchObject({ ok: true, isNew: false });
    expect(sent.map(({ body }) => JSON.parse(body))).toMatchObject([
      { id: 't-1', status: { deadline_at: new Date(NOW + 120_000).toISOString().replace('.000', '') } },
    ]);
    expect(timers.map(({ dueMs }) => dueMs)).toEqual([NOW + 120_000, NOW + 120_000]);
  });

  it('does not send the envelope again while the task is pending', async () => {
    const { gateway, sent, clock } = makeFixture();
    const create = () => gateway.create(ME, 'endless', PAYLOAD, { idempotencyKey: 'k' });
    await create();
    await clock.pass(3_600_000);
    expect(await create()).toMatchObject({ isNew: false, task: { state: 'pending' } });
    expect(sent).toHaveLength(1);
  });

  it('leaves a key to the request that claimed it first', async () => {
    const { gateway, tasks, sent } = makeFixture();
    const { create } = tasks;
    const storing = Promise.withResolvers<void>();
    const isAllowed = Promise.withResolvers<void>();
    const request = () => gateway.create(ME, 'enhance', PAYLOAD, { idempotencyKey: 'k' });
    tasks.create = async (task) => {
      storing.resolve();
      await isAllowed.promise;
      return create(task);
    };
    const first = request();
    await storing.promise;
    tasks.create = async () => DOWN;
    expect(await request()).toMatchObject({ kind: 'unavailable' });
    tasks.create = create;
    isAllowed.resolve();
    expect(await first).toMatchObject({ isNew: true, task: { id: 't-1' } });
    expect(await request()).toMatchObject({ isNew: false, task: { id: 't-1' } });
    expect(sent).toHaveLength(1);
  });

  it('logs that a key cannot be released', async () => {
    const { gateway, telemetry, tasks } = makeFixture({ send: async () => DOWN });
    tasks.releaseKey = async () => ({ ok: false, problem: 'not allowed' });
    await gateway.create(ME, 'endless', PAYLOAD, { idempotencyKey: 'k' });
    expect(telemetry.warnings).toContain('an idempotency key could not be released');
  });
});

describe('a task', () => {
  it('is visible to its owner only', async () => {
    const { gateway, tasks } = makeFixture();
    await gateway.create(ME, 'enhance', PAYLOAD);
    expect(await gateway.task(ME, 't-1')).toMatchObject({ ok: true });
    const foreign = [gateway.task, gateway.cancel, gateway.result].map((method) => method(OTHER, 't-1'));
    for (const reply of await Promise.all(foreign)) expect(reply).toMatchObject({ kind: 'not-found' });
    expect(await gateway.events(OTHER, 't-1', undefined, new AbortController().signal)).toBeUndefined();
    expect(await gateway.waitUntilEnded(OTHER, 't-1', 10)).toMatchObject({ kind: 'not-found' });
    expect(await gateway.tasks(OTHER)).toMatchObject({ tasks: [] });
    expect(tasks.all.get('t-1')?.state).toBe('pending');
  });

  it('is canceled once, and reported as canceled to sidecars', async () => {
    const { gateway } = makeFixture();
    await gateway.create(ME, 'enhance', PAYLOAD);
    expect(await gateway.report([aStep('received', 0)])).toEqual({ canceled: [] });
    expect(await gateway.cancel(ME, 't-1')).toMatchObject({ ok: true, task: { state: 'canceled' } });
    expect(await gateway.cancel(ME, 't-1')).toMatchObject({ ok: true, task: { state: 'canceled' } });
    expect(await gateway.report([aStep('processing', 1), aStep('received', 2)])).toEqual({
      canceled: ['t-1'],
    });
    expect(await gateway.result(ME, 't-1')).toMatchObject({ result: { task: { state: 'canceled' } } });
  });

  it('that was canceled is reported to sidecars that ask, or report another task', async () => {
    const { gateway } = makeFixture();
    for (let nth = 0; nth < 2; nth++) await gateway.create(ME, 'enhance', PAYLOAD);
    expect(await gateway.report([])).toEqual({ canceled: [] });
    await gateway.cancel(ME, 't-1');
    const ofOther = { task: 't-2', envelope_id: 't-2' };
    expect(await gateway.report([])).toEqual({ canceled: ['t-1'] });
    expect(await gateway.report([aStep('processing', 0, ofOther)])).toEqual({ canceled: ['t-1'] });
    // The crew does not ask.
    expect(await gateway.report([anEndOf('succeeded', ofOther)])).toEqual({ canceled: [] });
  });

  it('is canceled if that cannot be announced', async () => {
    const { gateway, cancellations, telemetry } = makeFixture();
    await gateway.create(ME, 'enhance', PAYLOAD);
    cancellations.problem = 'down';
    expect(await gateway.cancel(ME, 't-1')).toMatchObject({ ok: true, task: { state: 'canceled' } });
    expect(telemetry.warnings).toEqual(['a cancellation could not be announced']);
  });

  it('cannot be canceled after its end', async () => {
    const { gateway } = makeFixture();
    await gateway.create(ME, 'enhance', PAYLOAD);
    await gateway.report([anEndOf('succeeded')]);
    expect(await gateway.cancel(ME, 't-1')).toMatchObject({ ok: false, kind: 'conflict' });
  });

  it('has the payload it ended with, with exact numbers', async () => {
    const { gateway, archive } = makeFixture();
    await gateway.create(ME, 'enhance', PAYLOAD);
    archive.keep(A_RECORD, AN_END);
    await gateway.report([anEndOf('succeeded')]);
    expect(await gateway.result(ME, 't-1')).toMatchObject({
      ok: true,
      result: { payload: '{"big":12345678901234567890}' },
    });
  });

  it('is reconciled with the archive after a period without reports', async () => {
    const { gateway, archive, clock } = makeFixture();
    await gateway.create(ME, 'enhance', PAYLOAD);
    archive.keep(A_RECORD, AN_END);
    expect(await gateway.task(ME, 't-1')).toMatchObject({ task: { state: 'pending' } });
    await clock.pass(5_000);
    expect(await gateway.task(ME, 't-1')).toMatchObject({
      task: { state: 'succeeded', archiveKey: 'succeeded/t-1.json' },
    });
  });

  it.each([
    ['stays open for a while', 'endless', 'pending', 5_000],
    ['gets the recorded end after that', 'endless', 'succeeded', 300_000],
    ['gets the recorded end at its deadline', 'enhance', 'succeeded', 120_000],
  ])('with a recorded end that is not archived yet %s', async (_what, flow, state, afterMs) => {
    const { gateway, archive, clock } = makeFixture();
    await gateway.create(ME, flow, PAYLOAD);
    archive.keep(A_RECORD, AN_END);
    const { get } = archive;
    archive.get = async () => ({ ok: true, text: undefined });
    await clock.pass(afterMs);
    expect(await gateway.task(ME, 't-1')).toMatchObject({ ok: true, task: { state } });
    archive.get = get;
    expect(await gateway.result(ME, 't-1')).toMatchObject({
      result: { task: { state: 'succeeded' }, payload: '{"big":12345678901234567890}' },
    });
  });

  it('is returned unchanged if the archive is down', async () => {
    const { gateway, archive, clock, telemetry } = makeFixture();
    await gateway.create(ME, 'enhance', PAYLOAD);
    archive.problem = 'down';
    await clock.pass(6_000);
    expect(await gateway.task(ME, 't-1')).toMatchObject({ ok: true, task: { state: 'pending' } });
    expect(telemetry.warnings).toHaveLength(1);
  });

  it('returns a problem to the reporter if the store is down', async () => {
    const fixture = makeFixture();
    fixture.tasks.problem = 'down';
    expect(await fixture.gateway.report([anEndOf()])).toEqual({ canceled: [], problem: 'down' });
  });
});

describe('children whose last reports were lost', () => {
  const idsOf = (count: number) => Array.from({ length: count }, (_, nth) => `c-${nth}`);
  const recordOf = (envelopeId: string) => ({
    ...A_RECORD,
    identity: `r-${envelopeId}`,
    envelopeId,
    end: 'failed' as const,
    reason: 'PolicyExhausted',
    actor: 'score',
    archiveKey: `failed/${envelopeId}.json`,
  });

  /** A task with running children, and the ids that it looks up in the archive. */
  async function fannedOut(count: number) {
    const fixture = makeFixture();
    const { gateway, archive, tasks } = fixture;
    await gateway.create(ME, 'enhance', PAYLOAD);
    await gateway.report(idsOf(count).map((envelope_id) => aStep('received', 1, { envelope_id })));
    const { ofEnvelope } = archive;
    const lookups: string[] = [];
    archive.ofEnvelope = (id) => {
      lookups.push(id);
      return ofEnvelope(id);
    };
    const stillOpen = () =>
      Object.values(tasks.all.get('t-1')?.children ?? {}).filter(({ state }) => state === 'running').length;
    return { ...fixture, lookups, stillOpen };
  }

  it('are reconciled with the archive, without changing the task', async () => {
    const { gateway, archive, clock, tasks } = await fannedOut(2);
    await gateway.report([anEndOf('succeeded')]);
    const before = tasks.all.get('t-1');
    archive.keep(recordOf('c-1'), 'not an envelope');
    await clock.pass(5_000);
    expect(await gateway.task(ME, 't-1')).toMatchObject({
      task: {
        state: 'succeeded',
        updatedMs: before?.updatedMs,
        events: before?.events,
        children: {
          'c-0': { state: 'running' },
          'c-1': { state: 'failed', actor: 'score', reason: 'PolicyExhausted' },
        },
      },
    });
  });

  it('are looked up a few at a time, least recently looked up first', async () => {
    const { gateway, archive, clock, lookups, stillOpen } = await fannedOut(50);
    await gateway.report([anEndOf('succeeded')]);
    await gateway.task(ME, 't-1');
    expect(lookups).toEqual([]);
    for (let round = 0; round < 3; round++) {
      await clock.pass(5_000);
      for (let read = 0; read < 3; read++) await gateway.task(ME, 't-1');
      expect(lookups).toHaveLength(20 * (round + 1));
    }
    expect(new Set(lookups).size).toBe(50);
    for (const id of idsOf(50)) archive.keep(recordOf(id), 'not an envelope');
    await clock.pass(5_000);
    for (let read = 0; read < 3; read++) await gateway.task(ME, 't-1');
    expect([stillOpen(), lookups.length]).toEqual([0, 110]);
    await clock.pass(5_000);
    await gateway.task(ME, 't-1');
    expect(lookups).toHaveLength(110);
  });

  it('are not looked up while the task is open or watched', async () => {
    const { gateway, clock, lookups } = await fannedOut(3);
    const watching = collect(await gateway.events(ME, 't-1', undefined, new AbortController().signal));
    await clock.pass(20_000);
    await gateway.task(ME, 't-1');
    expect(new Set(lookups)).toEqual(new Set(['t-1']));
    await gateway.report([anEndOf('succeeded')]);
    await clock.passUntilSettled(watching);
    expect(new Set(lookups)).toEqual(new Set(['t-1']));
  });

  it('are returned unchanged if the archive is down', async () => {
    const { gateway, archive, clock, telemetry, stillOpen } = await fannedOut(2);
    await gateway.report([anEndOf('succeeded')]);
    archive.problem = 'down';
    await clock.pass(5_000);
    expect(await gateway.task(ME, 't-1')).toMatchObject({ ok: true, task: { state: 'succeeded' } });
    expect([stillOpen(), telemetry.warnings.length]).toEqual([2, 1]);
  });
});

describe('a subscriber', () => {
  it('receives the current state, the changes and the end', async () => {
    const { gateway, clock } = makeFixture();
    await gateway.create(ME, 'enhance', PAYLOAD);
    await gateway.report([aStep('received', 0), aStep('processing', 0)]);
    const watching = collect(await gateway.events(ME, 't-1', undefined, new AbortController().signal));
    await clock.pass(300);
    await gateway.report([aStep('completed', 0)]);
    await clock.pass(300);
    await gateway.report([anEndOf()]);
    const seen = await clock.passUntilSettled(watching);
    expect(seen.map(({ seq, type }) => [seq, type])).toEqual([
      [3, 'processing'],
      [4, 'completed'],
      [5, 'ended'],
    ]);
  });

  it('receives the events after a given number', async () => {
    const { gateway, clock } = makeFixture();
    await gateway.create(ME, 'enhance', PAYLOAD);
    await gateway.report([aStep('received', 0), aStep('processing', 0), anEndOf()]);
    for (const [after, seqs] of [
      [1, [2, 3, 4]],
      [4, []],
      [99, [4]],
    ] as const) {
      const events = await gateway.events(ME, 't-1', after, new AbortController().signal);
      const seen = await clock.passUntilSettled(collect(events));
      expect(seen.map(({ seq }) => seq)).toEqual(seqs);
    }
  });

  it('can unsubscribe', async () => {
    const { gateway, clock } = makeFixture();
    await gateway.create(ME, 'enhance', PAYLOAD);
    const stop = new AbortController();
    const watching = collect(await gateway.events(ME, 't-1', undefined, stop.signal));
    await clock.pass(1_000);
    stop.abort();
    expect(await watching).toHaveLength(1);
    expect(clock.sleepers).toBe(0);
  });

  it('waits at most as long as requested', async () => {
    const { gateway, clock } = makeFixture();
    await gateway.create(ME, 'endless', PAYLOAD);
    const waited = await clock.passUntilSettled(gateway.waitUntilEnded(ME, 't-1', 3_000));
    expect(waited).toMatchObject({ task: { state: 'pending' } });
    expect(clock.now() - NOW).toBeLessThanOrEqual(3_250);
    const waiting = gateway.waitUntilEnded(ME, 't-1', 30_000);
    await clock.pass(1_000);
    await gateway.report([anEndOf()]);
    expect(await clock.passUntilSettled(waiting)).toMatchObject({ task: { state: 'succeeded' } });
    expect(clock.sleepers).toBe(0);
  });

  it('receives the end of the stream if the store stays down', async () => {
    const { gateway, clock, tasks } = makeFixture();
    await gateway.create(ME, 'endless', PAYLOAD);
    const watching = collect(await gateway.events(ME, 't-1', undefined, new AbortController().signal));
    await clock.pass(500);
    tasks.problem = 'down';
    expect(await clock.passUntilSettled(watching)).toHaveLength(1);
    expect(clock.now() - NOW).toBeGreaterThanOrEqual(30_000);
  });
});

describe('200 concurrent tasks', () => {
  it('do not affect each other', async () => {
    const { gateway, tasks } = makeFixture();
    const numbers = Array.from({ length: 200 }, (_, index) => index + 1);
    await Promise.all(numbers.map((nth) => gateway.create({ id: `c-${nth}` }, 'endless', PAYLOAD)));
    const phases = ['succeeded', 'failed', 'canceled'] as const;
    await gateway.report(
      numbers.map((nth) => {
        const id = `t-${nth}`;
        return anEndOf(phases[nth % 3], { task: id, envelope_id: id, archive_key: `k-${nth}` });
      }),
    );
    for (const nth of numbers) {
      const task = tasks.all.get(`t-${nth}`);
      expect([task?.state, task?.archiveKey, task?.events.length]).toEqual([phases[nth % 3], `k-${nth}`, 2]);
      expect(isFinal(task?.state ?? 'pending')).toBe(true);
    }
  });
});
