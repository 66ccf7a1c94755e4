import { suggestion } from './nearest.ts';

/** Something an operator wrote that cannot be right. Collected, so that all are told at once. */
export interface Mistake {
  /** Where it stands: `ASYA_MAX_HOPS`, `ASYA_RESILIENCY_POLICIES.default.initialDelay`, `rules[2].policy`. */
  readonly place: string;
  /** What came, and what would be right. */
  readonly problem: string;
}

/** Gathers mistakes under one place. */
export interface MistakeCollector {
  readonly place: string;
  add(problem: string): void;
  /** The same collection, one step further in: `policies` at `default` is `policies.default`. */
  at(step: string | number): MistakeCollector;
}

export function mistakeCollector(mistakes: Mistake[], place: string): MistakeCollector {
  return {
    place,
    add: (problem) => {
      mistakes.push({ place, problem });
    },
    at: (step) =>
      mistakeCollector(mistakes, typeof step === 'number' ? `${place}[${step}]` : join(place, step)),
  };
}

function join(place: string, step: string): string {
  return place === '' ? step : `${place}.${step}`;
}

/** Complains of every key that is none of the known ones. */
export function addUnknownKeys(notes: MistakeCollector, value: object, known: readonly string[]): void {
  for (const key of Object.keys(value)) {
    if (!known.includes(key)) notes.at(key).add(`is no field here${suggestion(key, known)}`);
  }
}

/** One line for each mistake. */
export function mistakesText(mistakes: readonly Mistake[]): string {
  return mistakes.map(({ place, problem }) => `${place}: ${problem}`).join('\n');
}
