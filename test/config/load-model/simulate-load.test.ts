import { describe, expect, it } from 'vitest';
import { randomFrom } from '../../../lib/assembly/simulation/mesh-scenario.ts';
import { DAY_MS, dayOfArrivals } from '../../../lib/config/load-model/arrivals.ts';
import { type Load, type LoadResult, lambdaHost, STORES } from '../../../lib/config/load-model/load.ts';
import { simulateDay } from '../../../lib/config/load-model/simulate-day.ts';
import { simulateLoad } from '../../../lib/config/load-model/simulate-load.ts';
import { dollarsOf } from '../../../lib/config/scaling/prices.ts';
import { tunedMesh } from '../../../lib/config/scaling/tuned-mesh.ts';
import { aScaledMesh, aWorkload } from '../scaling/a-scaled-mesh.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 3_600_000;
const MANY = { all: '  scaling: {batchSize: 10, maxReplicas: 1000}\n' };

function aLoad(changes: Partial<Load> = {}): Load {
  return {
    mesh: aScaledMesh(MANY, { crewReplicas: 100 }),
    workload: aWorkload({ failedShare: 0 }),
    arrivals: () => 100,
    outages: [],
    durationMs: HOUR_MS,
    stepMs: 1_000,
    sampleMs: MINUTE_MS,
    host: lambdaHost(10_000),
    ...changes,
  };
}

const peakOf = ({ total }: LoadResult, actor: string) => {
  const peak = total.functions.get(actor);
  if (peak === undefined) throw new Error(`no function is called ${actor}`);
  return peak;
};

describe('a load', () => {
  it('ends as many envelopes as entered, in every function', () => {
    const result = simulateLoad(aLoad({ arrivals: (atMs) => (atMs < 30 * MINUTE_MS ? 100 : 0) }));
    expect(result.total.entered).toBeCloseTo(180_000);
    expect(result.succeeded).toBeCloseTo(180_000);
    for (const actor of ['first', 'second', 'third', 'x-sink'])
      expect(peakOf(result, actor).deliveries).toBeCloseTo(180_000);
  });

  it('fails the share that fails, at any actor', () => {
    const workload = aWorkload({ failedShare: 0.1 });
    const result = simulateLoad(aLoad({ workload, arrivals: (atMs) => (atMs < MINUTE_MS ? 100 : 0) }));
    expect(result.failed).toBeCloseTo(600);
    expect(result.succeeded).toBeCloseTo(5_400);
    expect(peakOf(result, 'third').deliveries).toBeLessThan(peakOf(result, 'first').deliveries);
  });

  it('waits at the actor with too few copies, and grows as the rate exceeds them', () => {
    const few = { ...MANY, second: '  scaling: {batchSize: 10, maxReplicas: 5}\n' };
    const result = simulateLoad(aLoad({ mesh: aScaledMesh(few) }));
    // Five copies process ten records in 1,005 ms each: about 50 of 100 per second.
    expect(peakOf(result, 'second').backlog).toBeCloseTo(3_600 * (100 - 50 / 1.005), -3);
    expect(peakOf(result, 'first').backlog).toBeLessThan(100);
    expect(peakOf(result, 'third').backlog).toBeLessThan(100);
    expect(peakOf(result, 'second').copies).toBeCloseTo(5);
  });

  it('scales an event source by 300 per minute, so that a burst waits for it', () => {
    const result = simulateLoad(aLoad({ arrivals: () => 5_000 }));
    const copies = result.samples.map(({ functions }) => functions.get('first')?.copies ?? 0);
    expect(copies[0]).toBeLessThanOrEqual(305);
    expect(copies[1]).toBeGreaterThan(500);
    expect(Math.max(...copies)).toBeLessThanOrEqual(1_000);
    expect(peakOf(result, 'first').oldestMs).toBeGreaterThan(10_000);
  });

  it('shares the executions of the account', () => {
    const result = simulateLoad(aLoad({ arrivals: () => 1_000, host: lambdaHost(150) }));
    const last = result.samples.at(-1)?.functions ?? new Map();
    const busy = [...last.values()].reduce((sum, { copies }) => sum + copies, 0);
    expect(busy).toBeLessThan(155);
    expect(peakOf(result, 'first').backlog).toBeGreaterThan(100_000);
  });
});

describe('an outage of an actor', () => {
  const outage = { of: 'second', fromMs: 10 * MINUTE_MS, untilMs: 20 * MINUTE_MS };
  const resilient = (policy: string) => ({
    ...MANY,
    second: `${MANY.all}  resiliency: {policies: {default: ${policy}}}\n`,
  });

  it('fails every envelope that has no policy', () => {
    const result = simulateLoad(aLoad({ outages: [outage] }));
    expect(result.failed).toBeCloseTo(60_000, -2);
  });

  it('fails envelopes after as many deliveries as their policy allows', () => {
    const mesh = aScaledMesh(resilient('{maxAttempts: 3, backoff: constant, initialDelay: 5s}'));
    const always = { of: 'second', fromMs: 0, untilMs: HOUR_MS };
    const arrivals = (atMs: number) => (atMs < MINUTE_MS ? 100 : 0);
    const result = simulateLoad(aLoad({ mesh, outages: [always], arrivals }));
    expect(peakOf(result, 'second').deliveries).toBeCloseTo(18_000);
    expect(result.failed).toBeCloseTo(6_000);
    expect(peakOf(result, 'x-sump').deliveries).toBeCloseTo(6_000);
  });

  it('loses nothing with a policy that lasts longer', () => {
    const policy = '{maxAttempts: unlimited, maxDuration: 1h, backoff: constant, initialDelay: 1m}';
    const mesh = aScaledMesh(resilient(policy));
    const result = simulateLoad(aLoad({ mesh, outages: [outage] }));
    expect(result.failed).toBe(0);
    const { backlog, backlogAtMs } = peakOf(result, 'second');
    expect(backlog).toBeGreaterThan(50_000);
    expect(backlogAtMs).toBeGreaterThan(19 * MINUTE_MS);
    const last = result.samples.at(-1)?.functions.get('second')?.backlog;
    expect(last).toBeLessThan(100);
  });
});

describe('an outage of the stores', () => {
  const outages = [{ of: STORES, fromMs: 10 * MINUTE_MS, untilMs: 55 * MINUTE_MS }];

  it('dead-letters ends that were received too often, and x-dlq stores them afterwards', () => {
    const result = simulateLoad(
      aLoad({ outages, durationMs: 2 * HOUR_MS, arrivals: (atMs) => (atMs < HOUR_MS ? 100 : 0) }),
    );
    expect(result.failed).toBeGreaterThan(100_000);
    expect(result.failed + result.succeeded).toBeCloseTo(360_000);
    expect(peakOf(result, 'first').backlog).toBeLessThan(100);
  });

  it('keeps them in the queue with enough receives', () => {
    const mesh = aScaledMesh(MANY, { crewReplicas: 100, queues: { maxReceiveCount: 60 } });
    const result = simulateLoad(aLoad({ mesh, outages }));
    expect(result.failed).toBe(0);
    expect(peakOf(result, 'x-sink').oldestMs).toBeGreaterThan(40 * MINUTE_MS);
  });

  it('has at most 120,000 messages in flight', () => {
    const mesh = aScaledMesh(MANY, { crewReplicas: 1_000 });
    const result = simulateLoad(aLoad({ mesh, outages, arrivals: () => 3_000, stepMs: 5_000 }));
    const received = result.samples
      .filter(({ fromMs }) => fromMs >= 15 * MINUTE_MS && fromMs < 53 * MINUTE_MS)
      .map(({ functions }) => functions.get('x-sink')?.deliveries ?? 0);
    // 180,000 arrive per minute. Nearly all that may be in flight is hidden for many minutes.
    expect(received.reduce((sum, count) => sum + count, 0) / received.length).toBeLessThan(100_000);
    expect(peakOf(result, 'x-sink').backlog).toBeGreaterThan(4_000_000);
  });
});

describe('a day', () => {
  const workload = aWorkload({ ratePerSecond: 1_000 });
  const mesh = tunedMesh(aScaledMesh(), workload);
  const day = (seed: number) => simulateDay(mesh, workload, { random: randomFrom(seed), outage: 'third' });

  it('is the same for the same seed', () => {
    expect(day(7)).toEqual(day(7));
    expect(day(7).samples).not.toEqual(day(8).samples);
  });

  it('has a peak in the afternoon, a low at night, and four bursts', () => {
    const at = dayOfArrivals(1_000, randomFrom(7));
    const rates = Array.from({ length: DAY_MS / MINUTE_MS }, (_, minute) => at(minute * MINUTE_MS));
    const calm = rates.filter((rate) => rate <= 1_000);
    expect(Math.max(...rates)).toBeLessThanOrEqual(3_000);
    expect(Math.min(...calm)).toBeCloseTo(250, 0);
    const jumps = rates.filter((rate, minute) => rate > 2 * (rates[minute - 1] ?? rate));
    expect(jumps).toHaveLength(4);
  });

  it('costs about the same per envelope at ten times the rate', () => {
    const perMillion = (ratePerSecond: number) => {
      const load = aWorkload({ ratePerSecond });
      const result = simulateDay(tunedMesh(aScaledMesh(), load), load, { random: randomFrom(1) });
      return (dollarsOf(result.usage) / result.total.entered) * 1_000_000;
    };
    expect(perMillion(1_000) / perMillion(100)).toBeGreaterThan(0.5);
    expect(perMillion(1_000)).toBeLessThanOrEqual(perMillion(100));
  });
});
