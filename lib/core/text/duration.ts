/** Durations in Go's notation without a sign ("300ms", "1.5s", "1h30m"), converted to whole milliseconds and back. */

const NANOSECONDS: Readonly<Record<string, bigint>> = {
  ns: 1n,
  us: 1_000n,
  '\u00b5s': 1_000n,
  '\u03bcs': 1_000n,
  ms: 1_000_000n,
  s: 1_000_000_000n,
  m: 60_000_000_000n,
  h: 3_600_000_000_000n,
};
const NANOSECONDS_PER_MS = 1_000_000n;
const PART = /(\d*)(?:\.(\d*))?(ns|us|\u00b5s|\u03bcs|ms|s|m|h)/y;

/** The longest duration that Go can represent, about 292 years. Computed delays are capped at it. */
export const MAX_DURATION_MS = 9_223_372_036_855;

export const DURATION_RULE = 'expected a duration such as "300ms", "1.5s", "5m" or "1h30m"';

/** The duration in milliseconds, rounded to the nearest one. Undefined if the value is not a duration. */
export function durationMs(value: unknown): number | undefined {
  if (typeof value !== 'string') return undefined;
  if (value === '0') return 0;
  let total = 0n;
  let position = 0;
  do {
    PART.lastIndex = position;
    const part = PART.exec(value);
    if (part === null) return undefined;
    const nanoseconds = partNanoseconds(part[1] ?? '', part[2] ?? '', part[3] ?? '');
    if (nanoseconds === undefined) return undefined;
    total += nanoseconds;
    position = PART.lastIndex;
  } while (position < value.length);
  const milliseconds = Number((total + NANOSECONDS_PER_MS / 2n) / NANOSECONDS_PER_MS);
  return milliseconds > MAX_DURATION_MS ? undefined : milliseconds;
}

function partNanoseconds(whole: string, fraction: string, unit: string): bigint | undefined {
  const size = NANOSECONDS[unit];
  if (size === undefined || whole + fraction === '') return undefined;
  return BigInt(whole || '0') * size + (BigInt(fraction || '0') * size) / 10n ** BigInt(fraction.length);
}

const UNITS = [
  ['h', 3_600_000],
  ['m', 60_000],
  ['s', 1_000],
  ['ms', 1],
] as const;

/** The shortest notation of a duration: 5400000 is "1h30m". */
export function durationText(milliseconds: number): string {
  let rest = milliseconds;
  let text = '';
  for (const [unit, size] of UNITS) {
    const count = Math.floor(rest / size);
    if (count > 0) text += `${count}${unit}`;
    rest -= count * size;
  }
  return text === '' ? '0s' : text;
}
