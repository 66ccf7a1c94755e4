import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { timerFile } from '../../../lib/adapters/timer-file/timer-file.ts';
import { virtualClock } from '../../app/virtual-clock.ts';
import { aFolder } from '../../support/a-folder.ts';
import { aPublication, aTimerStage } from './a-timer-file.ts';

const DAY_MS = 86_400_000;
const NEW = { ok: true, isNew: true };
const KNOWN = { ok: true, isNew: false };

describe('a timer', () => {
  it('is published exactly when it is due, even after 29 days', async () => {
    const stage = aTimerStage();
    const timers = await stage.open();
    const start = stage.clock.now();
    const delays = [29 * DAY_MS, 1_000, 0, 30 * DAY_MS, 3_600_000];
    for (const [index, delay] of delays.entries())
      expect(await timers.schedule(aPublication({ name: `t${index}`, dueMs: start + delay }))).toEqual(NEW);
    await stage.clock.pass(30 * DAY_MS - 1);
    expect(stage.published.map(({ atMs }) => atMs - start)).toEqual([0, 1_000, 3_600_000, 29 * DAY_MS]);
    expect(timers.waiting).toBe(1);
    await stage.clock.pass(1);
    expect(stage.published).toHaveLength(5);
    expect(timers.waiting).toBe(0);
  });

  it('is published before one that was scheduled earlier and is due later', async () => {
    const stage = aTimerStage();
    const timers = await stage.open();
    const start = stage.clock.now();
    await timers.schedule(aPublication({ name: 'late', body: 'late', dueMs: start + 60_000 }));
    await stage.clock.pass(10_000);
    await timers.schedule(aPublication({ name: 'soon', body: 'soon', dueMs: start + 10_500 }));
    await stage.clock.pass(60_000);
    expect(stage.published.map(({ body, atMs }) => [body, atMs - start])).toEqual([
      ['soon', 10_500],
      ['late', 60_000],
    ]);
  });

  it('is not scheduled again if its name is waiting or was published within a day', async () => {
    const stage = aTimerStage();
    let timers = await stage.open();
    const due = { dueMs: stage.clock.now() + 1_000 };
    expect(await timers.schedule(aPublication(due))).toEqual(NEW);
    expect(await timers.schedule(aPublication({ dueMs: 0 }))).toEqual(KNOWN);
    await stage.clock.pass(2_000);
    expect(await timers.schedule(aPublication(due))).toEqual(KNOWN);
    timers = await stage.open();
    expect(await timers.schedule(aPublication(due))).toEqual(KNOWN);
    expect(await timers.schedule(aPublication({ ...due, queue: 'q/other' }))).toEqual(NEW);
    await stage.clock.pass(DAY_MS + 600_000);
    expect(stage.published).toHaveLength(2);
    expect(await timers.schedule(aPublication(due)), 'forgotten after a day').toEqual(NEW);
  });

  it('is published when the file is opened if it was due before, earliest first', async () => {
    const stage = aTimerStage();
    const before = await stage.open();
    const start = stage.clock.now();
    for (const seconds of [30, 10, 20, 7_200])
      await before.schedule(
        aPublication({ name: `t${seconds}`, body: `${seconds}`, dueMs: start + seconds * 1_000 }),
      );
    await stage.clock.passUntilSettled(before.close());
    await stage.clock.pass(3_600_000);
    const after = await stage.open();
    await stage.clock.pass(0);
    expect(stage.published.map(({ body }) => body)).toEqual(['10', '20', '30']);
    expect(after.waiting).toBe(1);
  });

  it('is retried if it is refused, with a pause that grows to a minute', async () => {
    const stage = aTimerStage();
    const timers = await stage.open();
    const start = stage.clock.now();
    const attempts: number[] = [];
    stage.replies = async ({ atMs }) => {
      attempts.push((atMs - start) / 1_000);
      return attempts.length < 10 ? { ok: false, problem: '503' } : { ok: true };
    };
    await timers.schedule(aPublication({ dueMs: start }));
    await stage.clock.passUntil(() => stage.published.length === 1);
    expect(attempts).toEqual([0, 1, 3, 7, 15, 31, 63, 123, 183, 243]);
    expect(stage.warnings).toHaveLength(9);
    await stage.clock.pass(600_000);
    expect(attempts, 'no attempts after success').toHaveLength(10);
  });

  it('does not delay others if it is refused, and survives a restart', async () => {
    const stage = aTimerStage();
    let timers = await stage.open();
    stage.replies = async ({ topic }) => (topic === 'bad' ? { ok: false, problem: 'gone' } : { ok: true });
    await timers.schedule(aPublication({ name: 'bad', topic: 'bad' }));
    await stage.clock.pass(5_000);
    await timers.schedule(aPublication({ name: 'good', dueMs: stage.clock.now() + 100 }));
    await stage.clock.pass(100);
    expect(stage.published).toHaveLength(1);
    timers = await stage.open();
    stage.replies = async () => ({ ok: true });
    await stage.clock.pass(60_000);
    expect(stage.published.map(({ topic }) => topic)).toEqual(['projects/shop/topics/orders', 'bad']);
    expect(timers.waiting).toBe(0);
  });
});

describe('many timers', () => {
  it('are published once each, at most fifty at a time', async () => {
    const stage = aTimerStage();
    const timers = await stage.open();
    const start = stage.clock.now();
    let inFlight = 0;
    let maxInFlight = 0;
    stage.replies = async () => {
      inFlight++;
      maxInFlight = Math.max(maxInFlight, inFlight);
      await stage.clock.sleep(20);
      inFlight--;
      return { ok: true };
    };
    const count = 200;
    for (let index = 0; index < count; index++)
      await timers.schedule(aPublication({ name: `t${index}`, body: `${index}`, dueMs: start + 10 }));
    expect(inFlight).toBe(0);
    await stage.clock.pass(10);
    await expect.poll(() => inFlight).toBe(50);
    await stage.clock.passUntil(() => stage.published.length === count);
    await stage.clock.pass(1_000);
    expect(new Set(stage.published.map(({ body }) => body)).size).toBe(count);
    expect(stage.published).toHaveLength(count);
    expect(maxInFlight).toBe(50);
  });
});

describe('the file', () => {
  it('can be open only once', async () => {
    const stage = aTimerStage();
    await stage.open();
    const options = { path: stage.path, publish: async () => ({ ok: true }) as const, onWarning: () => {} };
    expect(() => timerFile({ ...options, clock: virtualClock() })).toThrow(/another process has it open/);
  });

  it('is refused with a message if it is not a database or cannot be created', () => {
    const folder = aFolder({});
    writeFileSync(
      join(folder, 'plain.txt'),
      'This file is not a database. It contains a plain text of some length.',
    );
    const open = (path: string) =>
      timerFile({ path, publish: async () => ({ ok: true }), clock: virtualClock(), onWarning: () => {} });
    expect(() => open(join(folder, 'plain.txt'))).toThrow(/plain\.txt cannot be used: .*not a database/);
    expect(() => open(join(folder, 'nowhere/timers.db'))).toThrow(/nowhere\/timers\.db cannot be used/);
  });

  it('refuses new timers while it closes, and waits for those in flight', async () => {
    const stage = aTimerStage();
    const timers = await stage.open();
    let publish: (reply: { ok: true }) => void = () => {};
    stage.replies = () => new Promise((resolve) => (publish = resolve));
    await timers.schedule(aPublication());
    await stage.clock.pass(0);
    const closing = timers.close();
    expect(await timers.schedule(aPublication({ name: 'two' }))).toMatchObject({ ok: false });
    publish({ ok: true });
    await stage.clock.passUntilSettled(closing);
    expect(stage.published).toHaveLength(1);
    const again = await stage.open();
    expect(again.waiting).toBe(0);
  });
});
