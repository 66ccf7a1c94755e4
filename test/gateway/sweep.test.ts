import { describe, expect, it } from 'vitest';
import type { Caller } from '../../lib/app/gateway/gateway.ts';
import type { SweepTimer, TaskTimer, Timer } from '../../lib/app/gateway/gateway-deps.ts';
import { armTimerOn, handleTimer } from '../../lib/app/gateway/timer.ts';
import { GATEWAY } from '../../lib/config/plan/gateway-plan.ts';
import { recordingTelemetry } from '../app/a-line.ts';
import { memoryBroker } from '../app/memory-broker.ts';
import { virtualClock } from '../app/virtual-clock.ts';
import { NOW } from '../core/a-delivery.ts';
import { anEndOf } from '../core/a-task.ts';
import { gatewayFixture, ME, PAYLOAD } from './gateway-fixture.ts';
import { memoryTasks } from './memory-stores.ts';

const TIMEOUT_SECONDS = 120;
const FLOW = { name: 'enhance', entrypoint: 'fetch', routeNext: [], timeoutSeconds: TIMEOUT_SECONDS };

/** NOW is the start of a period. Its shared timer is due when the last task of the period is overdue. */
const DUE_MS = NOW + 30_000 + TIMEOUT_SECONDS * 1_000 + 5_000;

/** Two instances of the gateway on the same table. */
function makeFixture() {
  const clock = virtualClock();
  const tasks = memoryTasks();
  const flows = () => [FLOW, { ...FLOW, name: 'longer', timeoutSeconds: 900 }];
  const [one, other] = ['a', 'b'].map((name) =>
    gatewayFixture({ clock, tasks, flows, newId: (nth) => `${name}-${nth}` }),
  ) as [ReturnType<typeof gatewayFixture>, ReturnType<typeof gatewayFixture>];
  const telemetry = recordingTelemetry();

  async function create(count: number, { gateway } = one, caller: Caller = ME, flow = 'enhance') {
    for (let nth = 0; nth < count; nth++) await gateway.create(caller, flow, PAYLOAD);
  }

  /** Handles a timer as it arrives in a message. Returns the timers that it armed. */
  async function fire(timer: Timer) {
    const armed: Timer[] = [];
    const broker = memoryBroker({ clock });
    broker.createQueue(GATEWAY);
    await armTimerOn(broker.transport(), GATEWAY, clock)(timer);
    const arm = async (again: Timer) => {
      armed.push(again);
      return { ok: true } as const;
    };
    const [body = ''] = broker.bodiesIn(GATEWAY);
    const isDone = await handleTimer(body, { gateway: one.gateway, arm, clock, telemetry });
    return { isDone, armed };
  }

  const states = () => Object.groupBy([...tasks.all.values()], ({ state }) => state);
  return { clock, tasks, one, other, telemetry, create, fire, states };
}

function ownOf(timers: readonly Timer[]): readonly TaskTimer[] {
  return timers.filter((timer) => 'task' in timer);
}

function sweepsOf(timers: readonly Timer[]): readonly SweepTimer[] {
  return timers.filter((timer) => 'owner' in timer);
}

describe('the backstops of many tasks', () => {
  it('are one timer for most of them, and one each for the first ones', async () => {
    const { one, create } = makeFixture();
    await create(100);
    expect(ownOf(one.timers).map(({ task, dueMs }) => [task, dueMs - NOW])).toEqual(
      ['a-1', 'a-2', 'a-3', 'a-4', 'a-5'].map((id) => [id, TIMEOUT_SECONDS * 1_000]),
    );
    expect(sweepsOf(one.timers)).toEqual([
      {
        id: expect.any(String),
        owner: 'me',
        fromMs: NOW,
        toMs: NOW + 29_999,
        timeoutMs: TIMEOUT_SECONDS * 1_000,
        dueMs: DUE_MS,
      },
    ]);
  });

  it('are timers of their own for another caller, another timeout and another period', async () => {
    const { one, create, clock } = makeFixture();
    await create(6);
    await create(6, one, { id: 'somebody' });
    await create(6, one, ME, 'longer');
    await clock.pass(30_000);
    await create(6);
    expect(
      sweepsOf(one.timers).map(({ owner, fromMs, timeoutMs }) => [owner, fromMs - NOW, timeoutMs]),
    ).toEqual([
      ['me', 0, 120_000],
      ['somebody', 0, 120_000],
      ['me', 0, 900_000],
      ['me', 30_000, 120_000],
    ]);
    expect(ownOf(one.timers)).toHaveLength(20);
  });

  it('are armed before any envelope is sent, also if the first try fails', async () => {
    let isDown = false;
    const clock = virtualClock();
    const arm = async () => (isDown ? ({ ok: false, problem: 'down' } as const) : ({ ok: true } as const));
    const { gateway, timers, sent } = gatewayFixture({ clock, flows: () => [FLOW], arm });
    for (let nth = 0; nth < 5; nth++) await gateway.create(ME, 'enhance', PAYLOAD);
    isDown = true;
    const refused = await Promise.all([1, 2].map(() => gateway.create(ME, 'enhance', PAYLOAD)));
    expect([refused.map(({ ok }) => ok), sent.length]).toEqual([[false, false], 5]);
    isDown = false;
    expect(await gateway.create(ME, 'enhance', PAYLOAD)).toMatchObject({ ok: true });
    expect([sweepsOf(timers).length, sent.length]).toEqual([1, 6]);
  });
});

describe('a timer that tasks share', () => {
  it('expires the overdue ones, and finds an end whose report was lost', async () => {
    const { one, create, fire, clock, states, tasks } = makeFixture();
    await create(20);
    await create(3, one, ME, 'longer');
    await one.gateway.report([anEndOf('succeeded', { task: 'a-9', envelope_id: 'a-9' })]);
    const archiveKey = 'succeeded/a-8.json';
    const record = { identity: 'r', envelopeId: 'a-8', end: 'succeeded', actor: 'store' } as const;
    one.archive.keep({ ...record, hop: 3, reason: 'Completed', atMs: NOW, archiveKey }, 'not an envelope');
    const [sweep] = sweepsOf(one.timers) as [SweepTimer];
    await clock.pass(DUE_MS - NOW - 1);
    expect(await fire(sweep)).toEqual({ isDone: true, armed: [sweep] });
    expect(states().failed).toBeUndefined();
    await clock.pass(1);
    expect(await fire(sweep)).toEqual({ isDone: true, armed: [] });
    expect([states().failed?.length, states().succeeded?.length, states().pending?.length]).toEqual([
      18, 2, 3,
    ]);
    expect(tasks.all.get('a-20')).toMatchObject({
      reason: 'Timeout',
      error: { message: 'envelope timed out' },
    });
    // Fired again after a crash.
    expect(await fire(sweep)).toEqual({ isDone: true, armed: [] });
  });

  it('leaves the search to the timer of another instance that fired first', async () => {
    const { one, other, create, fire, clock, states, tasks } = makeFixture();
    await create(10, one);
    await create(10, other);
    await clock.pass(DUE_MS - NOW);
    let searches = 0;
    const { overdue } = tasks;
    tasks.overdue = (...args) => {
      searches++;
      return overdue(...args);
    };
    for (const { timers } of [other, one]) for (const sweep of sweepsOf(timers)) await fire(sweep);
    expect([searches, states().failed?.length]).toEqual([1, 20]);
  });

  it('continues with another message if there are very many', async () => {
    const { one, create, fire, clock, states } = makeFixture();
    await create(1_200);
    await clock.pass(DUE_MS - NOW);
    const counts: unknown[] = [];
    let timers: readonly Timer[] = sweepsOf(one.timers);
    while (timers[0] !== undefined) {
      const { isDone, armed } = await fire(timers[0]);
      counts.push([isDone, states().failed?.length]);
      timers = armed;
    }
    expect(counts).toEqual([
      [true, 500],
      [true, 1_000],
      [true, 1_200],
    ]);
  });

  it('fires again if the store is down', async () => {
    const { one, create, fire, clock, states, tasks, telemetry } = makeFixture();
    await create(10);
    await clock.pass(DUE_MS - NOW);
    tasks.problem = 'down';
    const [sweep] = sweepsOf(one.timers) as [SweepTimer];
    const { isDone, armed } = await fire(sweep);
    expect([isDone, armed]).toEqual([true, [{ ...sweep, dueMs: DUE_MS + 60_000, failedMs: DUE_MS }]]);
    expect(telemetry.warnings).toEqual(['a task could not be expired; its timer will fire again']);
    delete (tasks as { problem?: string }).problem;
    await clock.pass(60_000);
    expect(await fire(armed[0] as Timer)).toEqual({ isDone: true, armed: [] });
    expect(states().failed).toHaveLength(10);
  });

  it('is not waited for by a caller who looks: the task is overdue at its deadline', async () => {
    const { one, create, clock } = makeFixture();
    await create(10);
    await clock.pass(TIMEOUT_SECONDS * 1_000);
    expect(await one.gateway.task(ME, 'a-9')).toMatchObject({ task: { state: 'failed', reason: 'Timeout' } });
  });

  it.each([
    { owner: 'me', from_ms: 1, to_ms: 2, timeout_ms: 3, due_ms: 4 },
    { sweep: 's', from_ms: 1, to_ms: 2, timeout_ms: 3, due_ms: 4 },
    { sweep: 's', owner: 'me', from_ms: 1, timeout_ms: 3, due_ms: 4 },
    { sweep: 's', owner: 'me', from_ms: 1, to_ms: '2', timeout_ms: 3, due_ms: 4 },
  ])('is left to the dead-letter queue if it is invalid: %j', async (message) => {
    const { one, clock, telemetry } = makeFixture();
    const arm = async () => ({ ok: true }) as const;
    expect(await handleTimer(JSON.stringify(message), { gateway: one.gateway, arm, clock, telemetry })).toBe(
      false,
    );
  });
});
