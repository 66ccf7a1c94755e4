import { describe, expect, it } from 'vitest';
import { unlessAborted, untilAborted } from '../../lib/async/until-aborted.ts';

const never = new Promise<never>(() => {});

describe('untilAborted', () => {
  it('resolves when any of the signals aborts', async () => {
    const [first, second] = [new AbortController(), new AbortController()];
    const waiting = untilAborted(first.signal, second.signal);
    second.abort();
    await waiting;
  });

  it('resolves at once if a signal is already aborted', async () => {
    await untilAborted(new AbortController().signal, AbortSignal.abort());
  });
});

describe('unlessAborted', () => {
  it('settles like the promise', async () => {
    const { signal } = new AbortController();
    expect(await unlessAborted(Promise.resolve(1), signal)).toBe(1);
    await expect(unlessAborted(Promise.reject(new Error('no')), signal)).rejects.toThrow('no');
  });

  it.each([
    ['before', true],
    ['while it waits', false],
  ])('rejects with the reason if the signal aborts %s', async (_when, isBefore) => {
    const stop = new AbortController();
    if (isBefore) stop.abort('stopped');
    const waiting = unlessAborted(never, stop.signal);
    if (!isBefore) stop.abort('stopped');
    await expect(waiting).rejects.toBe('stopped');
  });
});
