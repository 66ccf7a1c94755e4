import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { acquireUnlessAborted, semaphore } from '../../lib/async/semaphore.ts';

describe('semaphore', () => {
  it('limits the holders and grants slots in order', async () => {
    const slots = semaphore(2);
    const granted: number[] = [];
    const acquire = (name: number) => slots.acquire().then(() => granted.push(name));
    for (const name of [1, 2, 3, 4]) acquire(name);
    await Promise.resolve();
    expect({ granted, running: slots.running, waiting: slots.waiting }).toEqual({
      granted: [1, 2],
      running: 2,
      waiting: 2,
    });
    slots.release();
    await Promise.resolve();
    expect({ granted, running: slots.running, waiting: slots.waiting }).toEqual({
      granted: [1, 2, 3],
      running: 2,
      waiting: 1,
    });
  });

  it('never exceeds its limit and never keeps a slot free while others wait, for any order of calls', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 4 }),
        fc.array(fc.boolean(), { maxLength: 60 }),
        async (maxRunning, acquires) => {
          const slots = semaphore(maxRunning);
          let granted = 0;
          let released = 0;
          for (const isAcquire of acquires) {
            if (isAcquire) slots.acquire().then(() => granted++);
            else if (granted > released) {
              slots.release();
              released++;
            }
            await Promise.resolve();
            expect(granted - released).toBe(slots.running);
            expect(slots.running).toBeLessThanOrEqual(maxRunning);
            if (slots.waiting > 0) expect(slots.running).toBe(maxRunning);
          }
        },
      ),
      { numRuns: 200, seed: 20_260_101 },
    );
  });
});

describe('acquireUnlessAborted', () => {
  it('resolves with true when the slot is granted', async () => {
    expect(await acquireUnlessAborted(semaphore(1), new AbortController().signal)).toBe(true);
  });

  it('resolves with false if the signal aborts first, and passes on a slot that is granted later', async () => {
    const slots = semaphore(1);
    const stop = new AbortController();
    await slots.acquire();
    const aborted = acquireUnlessAborted(slots, stop.signal);
    const next = slots.acquire();
    stop.abort();
    expect(await aborted).toBe(false);
    slots.release();
    await next;
    expect(slots).toMatchObject({ running: 1, waiting: 0 });
  });
});
