import { durationText } from '../../core/text/duration.ts';
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

/** "1m0.5s": a duration with decimal seconds instead of milliseconds. */
export function spanText(milliseconds: number): string {
  if (milliseconds < 1_000 || milliseconds % 1_000 === 0) return durationText(milliseconds);
  const secondsMs = milliseconds % 60_000;
  return `${secondsMs === milliseconds ? '' : durationText(milliseconds - secondsMs)}${secondsMs / 1_000}s`;
}
