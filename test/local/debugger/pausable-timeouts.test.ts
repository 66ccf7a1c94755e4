import { describe, expect, it } from 'vitest';
import { sleepWith } from '../../../lib/async/timeouts.ts';
import { type PausableTimeouts, pausableTimeouts } from '../../../lib/local/debugger/pausable-timeouts.ts';
import { type VirtualClock, virtualClock } from '../../app/virtual-clock.ts';

function aTimeout(milliseconds: number) {
  const clock = virtualClock();
  const timeouts = pausableTimeouts(clock);
  const due: number[] = [];
  const startedAt = clock.now();
  const cancel = timeouts.start(milliseconds, () => due.push(clock.now() - startedAt));
  return { clock, timeouts, due, cancel };
}

async function pauseFor(ms: number, timeouts: PausableTimeouts, clock: VirtualClock): Promise<void> {
  timeouts.pause();
  await clock.pass(ms);
  timeouts.resume();
}

describe('a timeout that can be paused', () => {
  it('is due after its time if it is never paused', async () => {
    const { clock, due } = aTimeout(1_000);
    await clock.pass(5_000);
    expect(due).toEqual([1_000]);
  });

  it('is not due while it is paused, and continues with the time that was left', async () => {
    const { clock, timeouts, due } = aTimeout(1_000);
    await clock.pass(400);
    await pauseFor(60_000, timeouts, clock);
    expect(due).toEqual([]);
    await clock.pass(599);
    expect(due).toEqual([]);
    await clock.pass(1);
    expect(due).toEqual([61_000]);
  });

  it('counts the time between two pauses', async () => {
    const { clock, timeouts, due } = aTimeout(1_000);
    await pauseFor(5_000, timeouts, clock);
    await clock.pass(900);
    await pauseFor(5_000, timeouts, clock);
    await clock.pass(5_000);
    expect(due).toEqual([11_000]);
  });

  it('starts to run after the pause if it was started during one', async () => {
    const clock = virtualClock();
    const timeouts = pausableTimeouts(clock);
    const due: string[] = [];
    timeouts.pause();
    timeouts.start(1_000, () => due.push('due'));
    await clock.pass(10_000);
    timeouts.resume();
    await clock.pass(999);
    expect(due).toEqual([]);
    await clock.pass(1);
    expect(due).toEqual(['due']);
  });

  it('can be canceled, also while it is paused, and leaves no sleeper', async () => {
    const { clock, timeouts, due, cancel } = aTimeout(1_000);
    timeouts.pause();
    cancel();
    timeouts.resume();
    await clock.pass(5_000);
    expect(due).toEqual([]);
    expect(clock.sleepers).toBe(0);
  });

  it('is not due again after it was due', async () => {
    const { clock, timeouts, due } = aTimeout(1_000);
    await clock.pass(1_000);
    await pauseFor(5_000, timeouts, clock);
    await clock.pass(5_000);
    expect(due).toEqual([1_000]);
  });

  it('ignores a second pause and a second end of it', async () => {
    const { clock, timeouts, due } = aTimeout(1_000);
    timeouts.pause();
    await clock.pass(300);
    timeouts.pause();
    await clock.pass(300);
    timeouts.resume();
    timeouts.resume();
    await clock.pass(1_000);
    expect(due).toEqual([1_600]);
  });
});

it('gives a handler no limit for a call that starts during a pause', () => {
  const timeouts = pausableTimeouts(virtualClock());
  expect(timeouts.forHandler(1_000)).toBe(1_000);
  timeouts.pause();
  expect(timeouts.forHandler(1_000)).toBeUndefined();
  timeouts.resume();
  expect(timeouts.forHandler(1_000)).toBe(1_000);
});

it('can be waited for, until it is due or the signal aborts', async () => {
  const clock = virtualClock();
  const timeouts = pausableTimeouts(clock);
  const sleep = sleepWith(timeouts);
  const ended: string[] = [];
  const stop = new AbortController();
  void sleep(1_000).then(() => ended.push('due'));
  void sleep(1_000, stop.signal).then(() => ended.push('aborted'));
  stop.abort();
  await pauseFor(5_000, timeouts, clock);
  expect(ended).toEqual(['aborted']);
  await clock.pass(1_000);
  expect(ended).toEqual(['aborted', 'due']);
  await sleep(1_000, stop.signal);
  expect(clock.sleepers).toBe(0);
});
