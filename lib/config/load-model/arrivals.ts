const HOUR_MS = 3_600_000;
export const DAY_MS = 24 * HOUR_MS;

/** The day's curve has its peak at 15:00. At 3:00 it has this share of the peak. */
const LOW = 0.25;
const PEAK_MS = 15 * HOUR_MS;
const BURSTS = 4;
const BURST_MS = 10 * 60_000;
const BURST_FACTOR = 3;

/**
 * Envelopes per second over a day: a curve with one peak, and four bursts of ten minutes with three times as many. The
 * bursts start at random within a quarter of the day each.
 * @param random At least 0 and less than 1; the same numbers give the same day.
 */
export function dayOfArrivals(peakPerSecond: number, random: () => number): (atMs: number) => number {
  const quarterMs = DAY_MS / BURSTS;
  const starts = Array.from(
    { length: BURSTS },
    (_, at) => at * quarterMs + Math.floor(random() * (quarterMs - BURST_MS)),
  );
  return (atMs) => {
    const height = (1 + Math.cos((2 * Math.PI * (atMs - PEAK_MS)) / DAY_MS)) / 2;
    const isBurst = starts.some((start) => atMs >= start && atMs < start + BURST_MS);
    return peakPerSecond * (LOW + (1 - LOW) * height) * (isBurst ? BURST_FACTOR : 1);
  };
}
