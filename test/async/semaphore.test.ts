import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { semaphore } from '../../lib/async/semaphore.ts';

describe('turns', () => {
  it('so many at once, and the others in the order they came', async () => {
    const turns = semaphore(2);
    const begun: number[] = [];
    const ask = (name: number) => turns.acquire().then(() => begun.push(name));
    for (const name of [1, 2, 3, 4]) ask(name);
    await Promise.resolve();
    expect({ begun, running: turns.running, waiting: turns.waiting }).toEqual({
      begun: [1, 2],
      running: 2,
      waiting: 2,
    });
    turns.release();
    await Promise.resolve();
    expect({ begun, running: turns.running, waiting: turns.waiting }).toEqual({
      begun: [1, 2, 3],
      running: 2,
      waiting: 1,
    });
  });

  it('whatever the order of taking and giving: never more than so many, and nobody waits while one is free', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 4 }),
        fc.array(fc.boolean(), { maxLength: 60 }),
        async (atOnce, takes) => {
          const turns = semaphore(atOnce);
          let begun = 0;
          let given = 0;
          for (const isTake of takes) {
            if (isTake) turns.acquire().then(() => begun++);
            else if (begun > given) {
              turns.release();
              given++;
            }
            await Promise.resolve();
            expect(begun - given).toBe(turns.running);
            expect(turns.running).toBeLessThanOrEqual(atOnce);
            if (turns.waiting > 0) expect(turns.running).toBe(atOnce);
          }
        },
      ),
      { numRuns: 200, seed: 20_260_101 },
    );
  });
});
