import fc from 'fast-check';
import { expect, it } from 'vitest';

/** A law fails if it has not met every required class within this number of runs. */
const MAX_RUNS = 2_000;
/** Most laws have met every class after this number of runs. The others continue. */
const DEFAULT_RUNS = 500;
/** Fixed, so that results are reproducible. Set LAW_SEED for another one. */
const DEFAULT_SEED = 20_260_101;
const TIMEOUT_MS = 60_000;

const runs = numberFromEnvironment('LAW_RUNS', DEFAULT_RUNS);
const seed = numberFromEnvironment('LAW_SEED', DEFAULT_SEED);

const prototypeKeys = Reflect.ownKeys(Object.prototype);

function numberFromEnvironment(name: string, otherwise: number): number {
  const text = process.env[name];
  if (text === undefined || text === '') return otherwise;
  const value = Number(text);
  if (!Number.isSafeInteger(value))
    throw new Error(`${name} is "${text}"; expected a whole number such as ${otherwise}`);
  return value;
}

/**
 * A property that holds for every generated value. `classify` returns the classes of a value, and `mustMeet` lists the
 * classes that have to occur. Otherwise a law could pass without testing the case that it is about.
 */
export function law<T>(
  name: string,
  arbitrary: fc.Arbitrary<T>,
  property: (value: T) => void,
  classify: (value: T) => string | readonly string[],
  mustMeet: readonly string[],
): void {
  it(
    name,
    () => {
      const met = new Map(mustMeet.map((kind) => [kind, 0]));
      const count = (kind: string) => met.set(kind, (met.get(kind) ?? 0) + 1);
      const unmet = () => mustMeet.filter((kind) => met.get(kind) === 0);
      let done = 0;
      try {
        const whole = fc.property(arbitrary, (value) => {
          property(value);
          for (const kind of new Set([classify(value)].flat())) count(kind);
        });
        do {
          // The arbitraries generate edge cases themselves. A bias in addition would produce little else.
          fc.assert(whole, { numRuns: runs, seed: seed + done, unbiased: true });
          done += runs;
        } while (runs >= DEFAULT_RUNS && done < MAX_RUNS && unmet().length > 0);
      } finally {
        if (process.env['LAW_STATS']) console.log(tableText(name, met));
      }
      expect(Reflect.ownKeys(Object.prototype), 'nothing was added to Object.prototype').toEqual(
        prototypeKeys,
      );
      if (runs < DEFAULT_RUNS) return;
      expect(unmet(), `never met in ${done} runs with seed ${seed}`).toEqual([]);
    },
    TIMEOUT_MS * Math.max(1, runs / MAX_RUNS),
  );
}

function tableText(name: string, met: ReadonlyMap<string, number>): string {
  const rows = [...met].sort(([, one], [, other]) => other - one);
  return [name, ...rows.map(([kind, times]) => `${String(times).padStart(8)}  ${kind}`)].join('\n');
}
