import { describe, expect, it } from 'vitest';
import { consumeTimers } from '../../lib/app/gateway/consume-timers.ts';
import type { Timer } from '../../lib/app/gateway/gateway-deps.ts';
import { armTimerOn, handleTimer } from '../../lib/app/gateway/timer.ts';
import { GATEWAY } from '../../lib/config/plan/gateway-plan.ts';
import type { Report } from '../../lib/core/task/report.ts';
import type { Transport } from '../../lib/ports/transport.ts';
import { recordingTelemetry } from '../app/a-line.ts';
import { memoryBroker } from '../app/memory-broker.ts';
import { virtualClock } from '../app/virtual-clock.ts';
import { NOW } from '../core/a-delivery.ts';
import { anEndOf, aStep } from '../core/a-task.ts';
import { gatewayFixture, ME, PAYLOAD } from './gateway-fixture.ts';
import { type MemoryTasks, memoryTasks } from './memory-stores.ts';

function makeFixture(timeoutSeconds = 120) {
  const clock = virtualClock();
  const broker = memoryBroker({ clock });
  broker.createQueue(GATEWAY);
  const transport = broker.transport({ waitMs: 1_000 });
  const arm = armTimerOn(transport, GATEWAY, clock);
  const flow = { name: 'enhance', entrypoint: 'fetch', routeNext: ['score', 'store'], timeoutSeconds };
  const fixture = gatewayFixture({ clock, flows: () => [flow] });
  const telemetry = recordingTelemetry();
  let fired = 0;
  const counting: Transport = {
    ...transport,
    receive: async (queue, most, signal) => {
      const receipt = await transport.receive(queue, most, signal);
      if (receipt.ok) fired += receipt.deliveries.length;
      return receipt;
    },
  };

  /** Advances the clock to a time and handles the timers that fire. */
  async function passTo(untilMs: number): Promise<void> {
    const stop = new AbortController();
    const deps = { gateway: fixture.gateway, arm, clock, telemetry };
    const working = (async () => {
      for (const timer of fixture.timers.splice(0)) await arm(timer);
      await consumeTimers(GATEWAY, counting, deps, stop.signal);
    })();
    await clock.pass(NOW + untilMs - clock.now());
    stop.abort();
    await clock.passUntilSettled(working);
  }
  return { ...fixture, clock, passTo, telemetry, fired: () => fired };
}

describe('a flow with an SLA of 120 s', () => {
  it('fails at 120 s and ignores a report at 125 s', async () => {
    const { gateway, tasks, passTo } = makeFixture();
    await gateway.create(ME, 'enhance', PAYLOAD);
    await passTo(10_000);
    await gateway.report([aStep('received', 0), aStep('processing', 0), aStep('completed', 0)]);
    await passTo(40_000);
    await gateway.report([aStep('received', 1), aStep('processing', 1), aStep('completed', 1)]);
    await passTo(119_000);
    expect(tasks.all.get('t-1')?.state).toBe('running');
    await passTo(121_000);
    const expired = tasks.all.get('t-1');
    expect(expired).toMatchObject({
      state: 'failed',
      reason: 'Timeout',
      error: { message: 'envelope timed out' },
      updatedMs: NOW + 120_000,
      progress: { done: ['fetch', 'score'], current: 'store', percent: 66 },
    });
    await passTo(125_000);
    await gateway.report([aStep('received', 2), anEndOf('failed', { reason: 'Timeout' })]);
    expect(tasks.all.get('t-1')).toBe(expired);
  });

  it('keeps an end at 119 s when the backstop fires', async () => {
    const { gateway, tasks, passTo } = makeFixture();
    await gateway.create(ME, 'enhance', PAYLOAD);
    await passTo(119_000);
    await gateway.report([anEndOf('succeeded')]);
    const ended = tasks.all.get('t-1');
    await passTo(130_000);
    expect(tasks.all.get('t-1')).toBe(ended);
  });

  it('rejects a timer if the transport cannot delay messages', async () => {
    const clock = virtualClock();
    const sent: string[] = [];
    const transport = {
      traits: { ...memoryBroker({ clock }).transport({}).traits, maxDelayMs: 0 },
      sendWithDelay: async (queue: string) => {
        sent.push(queue);
        return { ok: true } as const;
      },
    };
    const arm = armTimerOn(transport, GATEWAY, clock);
    expect(await arm({ task: 't-1', dueMs: clock.now() + 1 })).toMatchObject({
      ok: false,
      problem: expect.stringContaining('ASYA_RABBITMQ_DELAY=ttl'),
    });
    expect(sent).toEqual([]);
    expect(await arm({ task: 't-1', dueMs: clock.now() })).toEqual({ ok: true });
  });

  it('chains delays for a timer of an hour', async () => {
    const { gateway, tasks, passTo, fired } = makeFixture(3_600);
    await gateway.create(ME, 'enhance', PAYLOAD);
    await passTo(3_599_000);
    expect([tasks.all.get('t-1')?.state, fired()]).toEqual(['pending', 3]);
    await passTo(3_602_000);
    expect(tasks.all.get('t-1')).toMatchObject({ state: 'failed', updatedMs: NOW + 3_600_000 });
  });

  it('reschedules a timer while the store is down', async () => {
    const { gateway, tasks, passTo, telemetry } = makeFixture();
    await gateway.create(ME, 'enhance', PAYLOAD);
    tasks.problem = 'down';
    // Far longer than five receives, after which the broker would move it to the dead-letter queue.
    await passTo(7_200_000);
    delete (tasks as { problem?: string }).problem;
    await passTo(7_260_000);
    expect(tasks.all.get('t-1')?.state).toBe('failed');
    expect(new Set(telemetry.warnings)).toEqual(
      new Set(['a task could not be expired; its timer will fire again']),
    );
  });

  it('does not acknowledge a timer that can be neither handled nor rescheduled', async () => {
    const { gateway, tasks, clock, telemetry } = makeFixture();
    tasks.problem = 'down';
    const arm = async () => ({ ok: false, problem: 'the broker refused' }) as const;
    const body = JSON.stringify({ task: 't-1', due_ms: NOW });
    expect(await handleTimer(body, { gateway, arm, clock, telemetry })).toBe(false);
  });

  it('leaves a timer that failed for a day to the dead-letter queue', async () => {
    const { gateway, tasks, clock, telemetry } = makeFixture();
    tasks.problem = 'down';
    const armed: Timer[] = [];
    const arm = async (timer: Timer) => {
      armed.push(timer);
      return { ok: true } as const;
    };
    const fire = (timer: object) => handleTimer(JSON.stringify(timer), { gateway, arm, clock, telemetry });
    expect(await fire({ task: 't-1', due_ms: NOW - 1 })).toBe(true);
    expect(armed).toEqual([{ task: 't-1', dueMs: NOW + 60_000, failedMs: NOW }]);
    await clock.pass(86_400_001);
    expect(await fire({ task: 't-1', due_ms: NOW + 60_000, failed_ms: NOW })).toBe(false);
    expect(armed).toHaveLength(1);
  });

  it('finds an unreported end in the archive', async () => {
    const { gateway, tasks, archive, passTo } = makeFixture();
    await gateway.create(ME, 'enhance', PAYLOAD);
    const archiveKey = 'succeeded/t-1.json';
    const record = { identity: 'r', envelopeId: 't-1', end: 'succeeded', actor: 'store' } as const;
    archive.keep({ ...record, hop: 3, reason: 'Completed', atMs: NOW, archiveKey }, 'not an envelope');
    await passTo(125_000);
    expect(tasks.all.get('t-1')).toMatchObject({ state: 'succeeded', reason: 'Completed', archiveKey });
  });

  it.each(['', '{', '[]', '{"task":7,"due_ms":1}', '{"task":"t"}'])(
    'leaves an invalid timer to the dead-letter queue: %s',
    async (body) => {
      const { gateway, clock, telemetry } = makeFixture();
      const arm = async () => ({ ok: true }) as const;
      expect(await handleTimer(body, { gateway, arm, clock, telemetry })).toBe(false);
    },
  );
});

/** Runs all operations, one step at a time in the order of the schedule. `choices` is how many could run at each step. */
async function runSchedule(
  schedule: readonly number[],
  operations: (tasks: MemoryTasks) => readonly (() => Promise<unknown>)[],
) {
  const waiting = new Map<number, () => void>();
  let current = -1;
  const choices: number[] = [];
  const tasks = memoryTasks(
    () =>
      new Promise((resolve) => {
        if (current < 0) resolve();
        else waiting.set(current, resolve);
      }),
  );
  const fixture = gatewayFixture({ clock: virtualClock(), tasks });
  await fixture.gateway.create(ME, 'enhance', PAYLOAD);
  const open = new Set<number>();
  for (const [index, operation] of operations(tasks).entries()) {
    open.add(index);
    current = index;
    void operation().finally(() => open.delete(index));
    await new Promise((resolve) => setImmediate(resolve));
  }
  while (open.size > 0) {
    const ready = [...waiting.keys()].sort();
    const choice = ready[schedule[choices.length] ?? 0] ?? 0;
    choices.push(ready.length);
    const go = waiting.get(choice);
    waiting.delete(choice);
    current = choice;
    go?.();
    await new Promise((resolve) => setImmediate(resolve));
  }
  return { task: tasks.all.get('t-1'), choices };
}

/** Runs every possible interleaving of the steps of these operations, and returns how many there are. */
async function everyOrder(
  operations: (tasks: MemoryTasks) => readonly (() => Promise<unknown>)[],
  check: (result: Awaited<ReturnType<typeof runSchedule>>) => void,
): Promise<number> {
  let count = 0;
  const todo: (readonly number[])[] = [[]];
  for (let schedule = todo.pop(); schedule !== undefined; schedule = todo.pop()) {
    const result = await runSchedule(schedule, operations);
    count++;
    check(result);
    for (let at = schedule.length; at < result.choices.length; at++) {
      const taken = [...schedule, ...Array<number>(at - schedule.length).fill(0)];
      for (let other = 1; other < (result.choices[at] ?? 1); other++) todo.push([...taken, other]);
    }
  }
  return count;
}

describe('a race between the backstop and a report', () => {
  const clockAtEnd = virtualClock(NOW + 120_000);
  const expiry = (tasks: MemoryTasks) => () =>
    gatewayFixture({ clock: clockAtEnd, tasks }).gateway.expire('t-1');
  const reporting = (tasks: MemoryTasks, reports: readonly Report[]) => () =>
    gatewayFixture({ clock: clockAtEnd, tasks }).gateway.report(reports);

  it.each([
    ['one final report', [[anEndOf('succeeded')]]],
    ['a step and a final report in separate requests', [[aStep('completed', 2)], [anEndOf('succeeded')]]],
  ] as const)('stores one end in every order of steps: %s', async (name, batches) => {
    const ends = new Map<string, number>();
    const count = await everyOrder(
      (tasks) => [expiry(tasks), ...batches.map((batch) => reporting(tasks, batch))],
      ({ task }) => {
        expect(task?.events.filter(({ type }) => type === 'ended')).toHaveLength(1);
        expect(task?.events.at(-1)?.type).toBe('ended');
        ends.set(task?.state ?? '', (ends.get(task?.state ?? '') ?? 0) + 1);
      },
    );
    console.log(`${count} interleavings of the backstop and ${name}:`, Object.fromEntries(ends));
    expect([...ends.keys()].sort()).toEqual(['failed', 'succeeded']);
    expect(count).toBeGreaterThanOrEqual(10);
  });
});
