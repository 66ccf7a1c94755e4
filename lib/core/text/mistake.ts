import { closestWord, suggestion } from './nearest.ts';

/** An invalid value in a manifest or setting. Mistakes are collected, so that all of them are reported at once. */
export interface Mistake {
  /** Its location: `ASYA_MAX_HOPS`, `ASYA_RESILIENCY_POLICIES.default.initialDelay`, `rules[2].policy`. */
  readonly place: string;
  /** The value received, and what would be valid. */
  readonly problem: string;
  /** The line of a file that cannot be read, and a caret below it. */
  readonly excerpt?: string;
}

/** Adds mistakes at one location to a list. */
export interface MistakeCollector {
  readonly place: string;
  add(problem: string): void;
  /** A collector for a location inside this one: `policies` at `default` is `policies.default`. */
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

/** Adds a mistake for every key that is not a known one. */
export function addUnknownKeys(mistakes: MistakeCollector, value: object, known: readonly string[]): void {
  for (const key of Object.keys(value)) {
    if (known.includes(key)) continue;
    const hint = suggestion(key, known) || `; the known fields are ${known.join(', ')}`;
    mistakes.at(key).add(`is not a known field${hint}`);
  }
}

/** Whether the field is absent, but an unknown key is probably meant to be this field. That key has its own mistake. */
export function isMisspelt(value: object, known: readonly string[], field: string): boolean {
  const keys = Object.keys(value);
  return (
    !keys.includes(field) && keys.some((key) => !known.includes(key) && closestWord(key, known) === field)
  );
}

/** One line for each mistake, followed by its excerpt. */
export function mistakesText(mistakes: readonly Mistake[]): string {
  return mistakes
    .map(({ place, problem, excerpt }) => {
      const line = `${place}: ${problem}`;
      return excerpt === undefined ? line : `${line}\n${excerpt.replace(/^/gm, '    ')}`;
    })
    .join('\n');
}
