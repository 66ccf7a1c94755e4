import { timestampText } from '../../core/text/timestamp.ts';

const UNITS: readonly (readonly [number, string])[] = [
  [86_400_000, 'd'],
  [3_600_000, 'h'],
  [60_000, 'm'],
  [1_000, 's'],
];

/** "3m ago": the largest unit of which there is at least one. */
export function agoText(atMs: number, now: number): string {
  const passed = Math.max(0, now - atMs);
  const [unitMs, unit] = UNITS.find(([size]) => passed >= size) ?? [1_000, 's'];
  return `${Math.floor(passed / unitMs)}${unit} ago`;
}

/** A time, and how long ago it was. */
export function whenText(atMs: number, now: number): string {
  return `${timestampText(atMs)} (${agoText(atMs, now)})`;
}

const SPAN_UNITS: readonly (readonly [milliseconds: number, unit: string])[] = [
  [3_600_000, 'h'],
  [60_000, 'min'],
  [1_000, 's'],
];

/** "1 min 0.5 s": an exact duration, in the notation of the log. */
export function spanText(milliseconds: number): string {
  if (milliseconds > 0 && milliseconds < 1_000) return `${milliseconds} ms`;
  let rest = milliseconds;
  const parts = SPAN_UNITS.flatMap(([size, unit]) => {
    const count = unit === 's' ? rest / size : Math.floor(rest / size);
    rest -= count * size;
    return count === 0 ? [] : [`${count} ${unit}`];
  });
  return parts.length === 0 ? '0 s' : parts.join(' ');
}
