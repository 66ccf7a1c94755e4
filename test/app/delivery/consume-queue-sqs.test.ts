import { setTimeout as sleep } from 'node:timers/promises';
import { SendMessageBatchCommand } from '@aws-sdk/client-sqs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { sqsClient } from '../../../lib/adapters/sqs/sqs-client.ts';
import { sqsTransport } from '../../../lib/adapters/sqs/sqs-transport.ts';
import { systemClock } from '../../../lib/adapters/system/system.ts';
import {
  type ConsumeResult,
  consumeQueue,
  type MissingQueue,
} from '../../../lib/app/delivery/consume-queue.ts';
import type { CallResult } from '../../../lib/core/delivery/outcome.ts';
import type { Clock } from '../../../lib/ports/clock.ts';
import { anEnvelope } from '../../core/a-delivery.ts';
import { type EmbeddedSqs, startEmbeddedSqs } from '../../support/embedded-sqs.ts';
import { VALUE } from '../a-consumer.ts';
import {
  aLine,
  type FakeRuntime,
  fakeRuntime,
  type RecordedTelemetry,
  recordingTelemetry,
} from '../a-line.ts';
import { type ScriptedTransport, scriptedTransport } from '../scripted-transport.ts';

/** The consumer with a real transport and in real time, for what virtual time cannot show. */

let sqs: EmbeddedSqs;
let tests = 0;

beforeAll(async () => {
  sqs = await startEmbeddedSqs();
});
afterAll(() => sqs.close());

interface Run {
  readonly actor: string;
  readonly next: string;
  readonly runtime: FakeRuntime;
  readonly telemetry: RecordedTelemetry;
  readonly transport: ScriptedTransport;
  /** Resolves when the consumer has ended without being stopped. */
  readonly over: Promise<ConsumeResult>;
  put(count: number): Promise<void>;
  /** Waits for this number of messages at the next actor, and returns their ids. */
  arrived(count: number): Promise<readonly string[]>;
  end(): Promise<ConsumeResult>;
}

interface RunOptions {
  readonly call?: (nth: number) => CallResult | Promise<CallResult>;
  readonly concurrency?: number;
  readonly visibilitySeconds?: number;
  readonly waitSeconds?: number;
  readonly clock?: Clock;
  readonly missingQueue?: Partial<MissingQueue>;
  readonly queues?: 'created' | 'missing';
}

/** Consumes the queue while `during` runs, and stops afterwards. */
async function consumeDuring(
  options: RunOptions,
  during: (run: Omit<Run, 'end'>) => Promise<void>,
): Promise<Run & { readonly ended: ConsumeResult }> {
  const { call = () => VALUE, concurrency = 1, queues = 'created' } = options;
  const { visibilitySeconds = 30, waitSeconds = 1, clock = systemClock } = options;
  const actor = `score-${++tests}`;
  const next = `store-${tests}`;
  await sqs.createQueue(next);
  await sqs.createQueue(`sink-${tests}`);
  if (queues === 'created') await sqs.createQueue(actor);
  const client = sqsClient({ endpoint: sqs.endpoint, region: 'us-east-1' }, {});
  const transport = scriptedTransport(sqsTransport({ client, visibilitySeconds, waitSeconds }), systemClock);
  const runtime = fakeRuntime((_request, nth) => call(nth));
  const telemetry = recordingTelemetry();
  const line = aLine({
    runtime,
    clock,
    transport,
    telemetry,
    actor: { name: actor, sink: `sink-${tests}` },
  });
  const stop = new AbortController();
  const missingQueue = { autoCreate: false, maxAttempts: 10, backoffMs: 50, ...options.missingQueue };
  const working = consumeQueue({ queue: actor, transport, line, concurrency, missingQueue }, stop.signal);
  const end = () => {
    stop.abort();
    return working;
  };
  const run = {
    actor,
    next,
    runtime,
    telemetry,
    transport,
    over: working,
    put: async (count: number) => {
      const route = { prev: [], curr: actor, next: [next] };
      const ids = Array.from({ length: count }, (_, index) => `e-${index}`);
      const QueueUrl = `${sqs.endpoint}/000000000000/${actor}`;
      for (let from = 0; from < count; from += 10) {
        // In one request, so that one receive returns all of them.
        const Entries = ids
          .slice(from, from + 10)
          .map((id) => ({ Id: id, MessageBody: JSON.stringify(anEnvelope({ id, route })) }));
        await sqs.client.send(new SendMessageBatchCommand({ QueueUrl, Entries }));
      }
    },
    arrived: async (count: number) => {
      const messages = await sqs.takeUntil(next, count);
      return messages.map(({ Body = '{}' }) => (JSON.parse(Body) as { id: string }).id).toSorted();
    },
  };
  try {
    await during(run);
    return { ...run, end, ended: await end() };
  } finally {
    await end();
    await transport.close();
  }
}

const NOTHING = { visible: 0, hidden: 0, delayed: 0 };

describe('the consumer on SQS', () => {
  it('processes 100 envelopes, four at a time, and leaves no messages', async () => {
    const { actor, runtime, ended, telemetry } = await consumeDuring(
      { concurrency: 4 },
      async ({ put, arrived }) => {
        await put(100);
        expect(new Set(await arrived(100)).size).toBe(100);
      },
    );
    expect(ended).toEqual({ why: 'stopped' });
    expect(await sqs.counts(actor)).toEqual(NOTHING);
    expect(runtime.calls).toHaveLength(100);
    expect(runtime.mostRunning).toBeLessThanOrEqual(4);
    expect(telemetry.warnings).toEqual([]);
  });

  it('keeps waiting deliveries hidden beyond the visibility timeout, and calls each once', async () => {
    // A frozen clock makes the first calls take no time, so the consumer prefetches the later calls, which are slow.
    let frozenAt: number | undefined = systemClock.now();
    const { runtime, ended, transport } = await consumeDuring(
      {
        visibilitySeconds: 3,
        clock: { ...systemClock, now: () => frozenAt ?? systemClock.now() },
        call: async (nth) => {
          if (nth > 2) await sleep(1_200);
          return VALUE;
        },
      },
      async ({ put, arrived }) => {
        await put(2);
        await arrived(2);
        frozenAt = undefined;
        await put(4);
        await arrived(4);
      },
    );
    expect(runtime.calls).toHaveLength(6);
    expect(transport.operationsOf('extend').filter(({ ok }) => ok).length).toBeGreaterThan(0);
    expect(ended).toEqual({ why: 'stopped' });
  });

  it('waits for a missing queue, and consumes it once it exists', async () => {
    const { ended } = await consumeDuring(
      { queues: 'missing' },
      async ({ actor, telemetry, put, arrived }) => {
        await expect.poll(() => telemetry.warnings).toContain('receiving failed');
        await sqs.createQueue(actor);
        await put(3);
        await arrived(3);
      },
    );
    expect(ended).toEqual({ why: 'stopped' });
  });

  it('ends if the queue stays missing', async () => {
    const missingQueue = { maxAttempts: 3, backoffMs: 10 };
    const { actor, ended } = await consumeDuring({ queues: 'missing', missingQueue }, async ({ over }) => {
      await over;
    });
    expect(ended).toEqual({
      why: 'queue-missing',
      problem: expect.stringContaining(`queue "${actor}" does not exist: not found after 3 attempts`),
    });
  });

  it('creates a missing queue if configured', async () => {
    const missingQueue = { autoCreate: true };
    const { ended, actor, telemetry } = await consumeDuring(
      { queues: 'missing', missingQueue },
      async ({ actor: queue, put, arrived }) => {
        await expect.poll(() => sqs.counts(queue), { timeout: 60_000 }).toEqual(NOTHING);
        await put(2);
        await arrived(2);
      },
    );
    expect(ended).toEqual({ why: 'stopped' });
    expect(telemetry.warnings).toEqual([]);
    expect(await sqs.counts(`${actor}-dlq`)).toEqual(NOTHING);
  });

  it('finishes started deliveries when stopped, and releases the rest at once', async () => {
    const { actor, ended, runtime } = await consumeDuring(
      {
        // No long poll: the engine continues a poll after its client disconnects, and would return released messages to it.
        waitSeconds: 0,
        call: async (nth) => {
          if (nth > 1) await sleep(500);
          return VALUE;
        },
      },
      async ({ put, arrived, runtime: calls }) => {
        await put(1);
        await arrived(1);
        await put(8);
        await expect.poll(() => calls.running, { timeout: 60_000 }).toBe(1);
      },
    );
    expect(ended).toEqual({ why: 'stopped' });
    const { visible, hidden } = await sqs.counts(actor);
    expect(hidden).toBe(0);
    expect(visible + runtime.calls.length).toBe(9);
  });
});
