import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { scalingReport } from '../../../lib/config/scaling/scaling-report.ts';
import { executionsFor, tunedMesh } from '../../../lib/config/scaling/tuned-mesh.ts';
import type { Workload } from '../../../lib/config/scaling/workload.ts';
import { type ActorFields, aScaledMesh, aWorkload } from './a-scaled-mesh.ts';

const FULL = { all: '  scaling: {batchSize: 10, concurrency: 10, maxReplicas: 1000}\n' };

function limitOf(resource: string, changes: Partial<Workload> = {}, fields: ActorFields = {}) {
  const { limits } = scalingReport(aScaledMesh(fields), aWorkload(changes));
  const found = limits.find((limit) => limit.resource === resource);
  if (found === undefined) throw new Error(`no limit is called ${resource}`);
  return found;
}

describe('the copies of an actor', () => {
  it('are the time of its calls per second, in batches', () => {
    // One record at a time: 100 calls of 100 ms and 5 ms around each.
    expect(limitOf('copies of first', { ratePerSecond: 100 }).needed).toBeCloseTo(10.5);
    // Ten records one after another, then ten at the same time.
    const ten = { first: '  scaling: {batchSize: 10}\n' };
    expect(limitOf('copies of first', { ratePerSecond: 100 }, ten).needed).toBeCloseTo(10.05);
    expect(limitOf('copies of first', { ratePerSecond: 100 }, FULL).needed).toBeCloseTo(1.05);
  });

  it('are limited by maxReplicas, which can be raised to the limit of an event source', () => {
    const limit = limitOf('copies of first', { ratePerSecond: 100 });
    expect(limit).toMatchObject({ limit: 10, raisableTo: 1_000, advice: 'set scaling.maxReplicas to 14' });
    expect(limit.maxRate).toBeCloseTo(95.2, 1);
    expect(limitOf('copies of first', { ratePerSecond: 100_000 }).advice).toContain(
      'set scaling.maxReplicas to 1000, the most of an event source',
    );
  });

  it('of the crew have a setting of their own', () => {
    expect(limitOf('copies of x-sink', { ratePerSecond: 10_000 })).toMatchObject({
      needed: 60,
      advice: 'set crewConcurrency to 78',
    });
  });
});

describe('the stores', () => {
  it('limit the ends, the failures and the tasks by the partitions of their lists', () => {
    expect(limitOf('index "by-time", list of ends').maxRate).toBe(16_000);
    expect(limitOf('index "by-time", list of failures', { failedShare: 0.5 }).maxRate).toBe(32_000);
    const tracked = { trackedShare: 1, callers: 4 };
    expect(limitOf('index "by-owner", tasks of one caller', tracked).maxRate).toBe(32_000);
    expect(limitOf('index "by-owner", tasks of one caller').maxRate).toBe(Number.POSITIVE_INFINITY);
  });
});

describe('messages in flight', () => {
  it('include those whose batch still fills', () => {
    const window = { first: '  scaling: {batchSize: 100, batchWindow: 60s, maxReplicas: 1000}\n' };
    expect(limitOf('messages in flight to first', { callMs: () => 1 }, window).maxRate).toBeCloseTo(1_997, 0);
  });
});

describe('concurrent executions', () => {
  it('count short invocations as 100 ms', () => {
    const resource = 'concurrent executions of the account';
    const quick = { callMs: () => 1, ratePerSecond: 1_000 };
    // Three invocations for the actors and a tenth for x-sink.
    expect(limitOf(resource, quick).needed).toBeCloseTo(310, 0);
    expect(limitOf(resource, { ...quick, callMs: () => 1_000 }).needed).toBeGreaterThan(3_000);
  });
});

describe('a report', () => {
  it('puts the first limit first, and names the one that remains', () => {
    const { limits, exceeded, hard } = scalingReport(
      aScaledMesh(FULL),
      aWorkload({ ratePerSecond: 100_000 }),
    );
    expect(limits.map(({ maxRate }) => maxRate)).toEqual(
      limits.map(({ maxRate }) => maxRate).sort((one, other) => one - other),
    );
    expect(exceeded[0]?.resource).toBe('copies of x-sink');
    expect(hard).toMatchObject({ rate: 16_000, limit: { resource: 'index "by-time", list of ends' } });
  });

  it('does not count a limit as the last one if AWS raises it on request', () => {
    const workload = aWorkload({ ratePerSecond: 100_000, trackedShare: 1, callers: 1_000 });
    const { hard, exceeded } = scalingReport(aScaledMesh(FULL), workload);
    expect(hard).toMatchObject({ rate: 16_000, limit: { resource: 'index "by-time", list of ends' } });
    expect(exceeded.map(({ advice }) => advice)).toContain(
      'before the first load, set the warm throughput of the table and its indexes to 40000 write units',
    );
  });

  it('grows with the rate: what is within a limit stays within it at a lower rate', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 100_000 }),
        fc.double({ min: 0, max: 1, noNaN: true }),
        fc.integer({ min: 1, max: 10_000 }),
        (ratePerSecond, share, callMs) => {
          const workload = aWorkload({
            ratePerSecond,
            trackedShare: share,
            failedShare: share,
            callMs: () => callMs,
          });
          for (const { needed, limit, maxRate } of scalingReport(MESH, workload).limits)
            expect(needed > limit).toBe(ratePerSecond > maxRate);
        },
      ),
      { numRuns: 200 },
    );
  });
});

const MESH = aScaledMesh();

describe('a tuned mesh', () => {
  it('keeps up where copies were the limit', () => {
    const workload = aWorkload({ ratePerSecond: 1_500, trackedShare: 1 });
    const tuned = tunedMesh(MESH, workload);
    expect(scalingReport(tuned, workload).exceeded.map(({ resource }) => resource)).toEqual([
      'writes of a new table',
    ]);
    expect(executionsFor(tuned)).toBe(1_000);
    const large = tunedMesh(MESH, aWorkload({ ratePerSecond: 9_000 }));
    expect(large.functions.map(({ maxReplicas }) => maxReplicas)).toEqual([1000, 1000, 1000, 71, 71, 71]);
  });
});
