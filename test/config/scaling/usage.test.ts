import { describe, expect, it } from 'vitest';
import { addUsage, usageAtRest, usageOfEntry, usageOfInvocation } from '../../../lib/config/scaling/usage.ts';
import type { Workload } from '../../../lib/config/scaling/workload.ts';
import { aScaledMesh, aWorkload } from './a-scaled-mesh.ts';

function invocation(actor: string, records: number, changes: Partial<Workload> = {}, scaling = '') {
  const { functions } = aScaledMesh({ all: scaling });
  const plan = functions.find((one) => one.actor === actor);
  if (plan === undefined) throw new Error(`no function is called ${actor}`);
  return usageOfInvocation(plan, { records, durationMs: 1_000 }, aWorkload(changes));
}

describe('an invocation of an actor', () => {
  it('with ten quick calls makes a receive, a send and a delete', () => {
    expect(invocation('first', 10, { callMs: () => 1 }).sqsRequests).toBeCloseTo(3);
  });

  it('sends the results of slow calls one by one, or of as many as run at the same time', () => {
    expect(invocation('first', 10).sqsRequests).toBeCloseTo(12);
    const five = '  scaling: {batchSize: 10, concurrency: 5}\n';
    expect(invocation('first', 10, {}, five).sqsRequests).toBeCloseTo(4);
  });

  it('is billed for each 64 KB of a request, and sends what fits into one', () => {
    const large = { callMs: () => 1, envelopeBytes: 65_536 };
    expect(invocation('first', 10, large).sqsRequests).toBeCloseTo(10 + 10 + 1);
    const huge = { callMs: () => 1, envelopeBytes: 1_048_576 };
    expect(invocation('first', 10, huge).sqsRequests).toBeCloseTo(160 + 160 + 1);
  });

  it('is billed for its memory and duration', () => {
    expect(invocation('first', 1, {}, '  memory: 2Gi\n').lambdaGbSeconds).toBeCloseTo(2);
  });
});

describe('the crew', () => {
  it('writes an object per batch, and each record into the table and its indexes', () => {
    expect(invocation('x-sink', 10, { failedShare: 0 })).toMatchObject({ s3Puts: 1, dynamodbWrites: 20 });
    expect(invocation('x-sump', 10)).toMatchObject({ dynamodbWrites: 40 });
    expect(invocation('x-dlq', 10, { failedShare: 1 })).toMatchObject({ s3Puts: 10, dynamodbWrites: 60 });
  });
});

describe('an object of its own', () => {
  it.each([
    ['an envelope that failed', { failedShare: 0.5 }, 5 + 1],
    ['every envelope, if all failed', { failedShare: 1 }, 10],
    ['a large envelope', { failedShare: 0, envelopeBytes: 65_537 }, 10],
    ['no envelope of 64 KB', { failedShare: 0, envelopeBytes: 65_536 }, 1],
  ])('has %s', (_what, changes, puts) => {
    expect(invocation('x-sink', 10, changes).s3Puts).toBeCloseTo(puts);
    expect(invocation('x-sink', 1, changes).s3Puts).toBeCloseTo(1);
  });
});

describe('a task', () => {
  it('changes at its end, and when a call takes long', () => {
    const tracked = { trackedShare: 1 };
    expect(invocation('x-sink', 10, tracked)).toMatchObject({ dynamodbWrites: 40, lambdaRequests: 2 });
    expect(invocation('first', 10, tracked)).toMatchObject({ dynamodbWrites: 0, lambdaRequests: 1 });
    const long = { ...tracked, callMs: () => 2_000 };
    expect(invocation('first', 10, long)).toMatchObject({ dynamodbWrites: 20, lambdaRequests: 2 });
  });
});

describe('an envelope that enters', () => {
  it('is sent alone if it is a task, and with nine others if not', () => {
    expect(usageOfEntry(100, aWorkload()).sqsRequests).toBe(10);
    expect(usageOfEntry(100, aWorkload({ trackedShare: 1 }))).toMatchObject({
      sqsRequests: 100,
      dynamodbWrites: 200,
      lambdaRequests: 100,
    });
  });
});

it('polls its queues while nothing enters', () => {
  const { functions } = aScaledMesh();
  const queues = functions.flatMap(({ sources }) => sources).length;
  expect(usageAtRest(functions, 20_000).sqsRequests).toBe(5 * queues);
});

it('adds up unit by unit', () => {
  expect(addUsage({ s3Puts: 1, logGb: 2 }, { s3Puts: 3, s3Gets: 4 })).toEqual({
    s3Puts: 4,
    logGb: 2,
    s3Gets: 4,
  });
});
