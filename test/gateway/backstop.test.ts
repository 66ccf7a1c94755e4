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
import { aGateway, ME, PAYLOAD } from './a-gateway.ts';
import { type MemoryTasks, memoryTasks } from './memory-stores.ts';

function atWork(timeoutSeconds = 120) {
  const clock = virtualClock();
  const broker = memoryBroker({ clock });
  broker.createQueue(GATEWAY);
  const transport = broker.transport({ waitMs: 1_000 });
  const arm = armTimerOn(transport, GATEWAY, clock);
  const flow = { name: 'enhance', entrypoint: 'fetch', routeNext: ['score', 'store'], timeoutSeconds };
  const stage = aGateway({ clock, flows: () => [flow] });
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

  /** Until a time, handles what timers come. */
  async function until(untilMs: number): Promise<void> {
    const stop = new AbortController();
    const parts = { gateway: stage.gateway, arm, clock, telemetry };
    const working = (async () => {
      for (const timer of stage.timers.splice(0)) await arm(timer);
      await consumeTimers(GATEWAY, counting, parts, stop.signal);
    })();
    await clock.pass(NOW + untilMs - clock.now());
    stop.abort();
    await clock.passUntilSettled(working);
  }
  return { ...stage, clock, until, telemetry, fired: () => fired };
}

describe('the timeline of a flow with an SLA of 120 s', () => {
  it('fails at 120 s, whatever the actor at 125 s says', async () => {
    const { gateway, tasks, until } = atWork();
    await gateway.create(ME, 'enhance', PAYLOAD);
    await until(10_000);
    await gateway.report([aStep('received', 0), aStep('processing', 0), aStep('completed', 0)]);
    await until(40_000);
    await gateway.report([aStep('received', 1), aStep('processing', 1), aStep('completed', 1)]);
    await until(119_000);
    expect(tasks.all.get('t-1')?.state).toBe('running');
    await until(121_000);
    const expired = tasks.all.get('t-1');
    expect(expired).toMatchObject({
      state: 'failed',
      reason: 'Timeout',
      error: { message: 'envelope timed out' },
      updatedMs: NOW + 120_000,
      progress: { done: ['fetch', 'score'], current: 'store', percent: 66 },
    });
    await until(125_000);
    await gateway.report([aStep('received', 2), anEndOf('failed', { reason: 'Timeout' })]);
    expect(tasks.all.get('t-1')).toBe(expired);
  });

  it('is met by one who ends at 119 s, and the backstop changes nothing', async () => {
    const { gateway, tasks, until } = atWork();
    await gateway.create(ME, 'enhance', PAYLOAD);
    await until(119_000);
    await gateway.report([anEndOf('succeeded')]);
    const ended = tasks.all.get('t-1');
    await until(130_000);
    expect(tasks.all.get('t-1')).toBe(ended);
  });

  it('is refused where nothing can be delayed, in place of coming back at once for ever', async () => {
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

  it('of an hour is chained, and fires no earlier', async () => {
    const { gateway, tasks, until, fired } = atWork(3_600);
    await gateway.create(ME, 'enhance', PAYLOAD);
    await until(3_599_000);
    expect([tasks.all.get('t-1')?.state, fired()]).toEqual(['pending', 3]);
    await until(3_602_000);
    expect(tasks.all.get('t-1')).toMatchObject({ state: 'failed', updatedMs: NOW + 3_600_000 });
  });

  it('that fires while the store is down fires again, however long that takes', async () => {
    const { gateway, tasks, until, telemetry } = atWork();
    await gateway.create(ME, 'enhance', PAYLOAD);
    tasks.problem = 'down';
    // Far longer than five receives: the dead-letter queue would have it.
    await until(7_200_000);
    delete (tasks as { problem?: string }).problem;
    await until(7_260_000);
    expect(tasks.all.get('t-1')?.state).toBe('failed');
    expect(new Set(telemetry.troubles)).toEqual(
      new Set(['a task could not be expired; its timer will fire again']),
    );
  });

  it('that can neither be done nor set again comes again', async () => {
    const { gateway, tasks, clock, telemetry } = atWork();
    tasks.problem = 'down';
    const arm = async () => ({ ok: false, problem: 'the broker said no' }) as const;
    const body = JSON.stringify({ task: 't-1', due_ms: NOW });
    expect(await handleTimer(body, { gateway, arm, clock, telemetry })).toBe(false);
  });

  it('that fired in vain for a day is left for the dead-letter queue, where somebody sees it', async () => {
    const { gateway, tasks, clock, telemetry } = atWork();
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

  it('finds an end that nobody told in the archive', async () => {
    const { gateway, tasks, archive, until } = atWork();
    await gateway.create(ME, 'enhance', PAYLOAD);
    const archiveKey = 'succeeded/t-1.json';
    const record = { identity: 'r', envelopeId: 't-1', end: 'succeeded', actor: 'store' } as const;
    archive.keep({ ...record, hop: 3, reason: 'Completed', atMs: NOW, archiveKey }, 'not an envelope');
    await until(125_000);
    expect(tasks.all.get('t-1')).toMatchObject({ state: 'succeeded', reason: 'Completed', archiveKey });
  });

  it.each(['', '{', '[]', '{"task":7,"due_ms":1}', '{"task":"t"}'])(
    'that cannot be read is left for the dead-letter queue: %s',
    async (body) => {
      const { gateway, clock, telemetry } = atWork();
      const arm = async () => ({ ok: true }) as const;
      expect(await handleTimer(body, { gateway, arm, clock, telemetry })).toBe(false);
    },
  );
});

/** Runs both sides, and at every step lets the one go on that the script says; tells where there was a choice. */
async function play(
  script: readonly number[],
  sides: (tasks: MemoryTasks) => readonly (() => Promise<unknown>)[],
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
  const stage = aGateway({ clock: virtualClock(), tasks });
  await stage.gateway.create(ME, 'enhance', PAYLOAD);
  const open = new Set<number>();
  for (const [index, side] of sides(tasks).entries()) {
    open.add(index);
    current = index;
    void side().finally(() => open.delete(index));
    await new Promise((resolve) => setImmediate(resolve));
  }
  while (open.size > 0) {
    const ready = [...waiting.keys()].sort();
    const choice = ready[script[choices.length] ?? 0] ?? 0;
    choices.push(ready.length);
    const go = waiting.get(choice);
    waiting.delete(choice);
    current = choice;
    go?.();
    await new Promise((resolve) => setImmediate(resolve));
  }
  return { task: tasks.all.get('t-1'), choices };
}

/** Every order in which the steps of both can happen. */
async function everyOrder(
  sides: (tasks: MemoryTasks) => readonly (() => Promise<unknown>)[],
  check: (played: Awaited<ReturnType<typeof play>>) => void,
): Promise<number> {
  let count = 0;
  const todo: (readonly number[])[] = [[]];
  for (let script = todo.pop(); script !== undefined; script = todo.pop()) {
    const played = await play(script, sides);
    count++;
    check(played);
    for (let at = script.length; at < played.choices.length; at++) {
      const taken = [...script, ...Array<number>(at - script.length).fill(0)];
      for (let other = 1; other < (played.choices[at] ?? 1); other++) todo.push([...taken, other]);
    }
  }
  return count;
}

describe('the backstop against a late report', () => {
  const clockAtEnd = virtualClock(NOW + 120_000);
  const expiry = (tasks: MemoryTasks) => () => aGateway({ clock: clockAtEnd, tasks }).gateway.expire('t-1');
  const reporting = (tasks: MemoryTasks, reports: readonly Report[]) => () =>
    aGateway({ clock: clockAtEnd, tasks }).gateway.report(reports);

  it.each([
    ['one final report', [[anEndOf('succeeded')]]],
    ['a step and a final report from two places', [[aStep('completed', 2)], [anEndOf('succeeded')]]],
  ] as const)('leaves one end in every order: %s', async (name, batches) => {
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
