import { semaphore } from '../../async/semaphore.ts';
import type { Receipt, Transport } from '../../ports/transport.ts';
import type { Line } from './handle-delivery.ts';
import { prefetchFor } from './prefetch.ts';
import { processDelivery } from './process-delivery.ts';

/** A queue's deliveries, taken and worked on for as long as the process lives. */
export interface ConsumerDeps {
  readonly queue: string;
  readonly transport: Transport;
  readonly line: Line;
  readonly concurrency: number;
  readonly missingQueue: MissingQueue;
}

export interface MissingQueue {
  readonly autoCreate: boolean;
  readonly maxAttempts: number;
  readonly backoffMs: number;
}

export type ConsumeEnd =
  /** Told to stop, and everything in hand is settled. */
  | { readonly why: 'stopped' }
  /** A call hung in a runtime that nobody here can kill. */
  | { readonly why: 'hung' }
  | { readonly why: 'queue-missing'; readonly problem: string };

const MAX_PAUSE_MS = 30_000;

/** Works until told to stop, until the runtime hangs for good, or until the queue stays away. */
export async function consumeQueue(work: ConsumerDeps, stop: AbortSignal): Promise<ConsumeEnd> {
  const { queue, transport, line, concurrency } = work;
  const { maxBatch } = transport.traits;
  const ending = new AbortController();
  const anyStop = AbortSignal.any([stop, ending.signal]);
  const turns = semaphore(concurrency);
  const prefetch = prefetchFor(concurrency, maxBatch);
  const inHand = new Set<Promise<void>>();
  const source = sourceFor(work);
  let end: ConsumeEnd = { why: 'stopped' };
  let bug: { readonly thrown: unknown } | undefined;
  let onFinished: () => void = () => {};

  const onHung = () => {
    end = { why: 'hung' };
    ending.abort();
    line.runtime.interrupt();
  };
  const onBug = (thrown: unknown) => {
    bug ??= { thrown };
    ending.abort();
  };
  const desk = { transport, line, turns, stop: anyStop, learn: prefetch.learn, onHung, onBug };

  while (!anyStop.aborted) {
    const capacity = concurrency + prefetch.most;
    const free = capacity - inHand.size;
    const isIdle = inHand.size === 0 || (turns.waiting === 0 && turns.running < concurrency && free > 0);
    if (free < Math.min(maxBatch, capacity) && !isIdle) {
      // No race between all of them: each would add to a slow one's followers, for as long as it takes.
      await new Promise<void>((resolve) => {
        onFinished = resolve;
      });
      continue;
    }
    // What nobody here can be called with is left to others.
    await line.runtime.untilReady?.(anyStop);
    const receipt = await source.next(Math.min(maxBatch, free), anyStop);
    if ('problem' in receipt) {
      end = { why: 'queue-missing', problem: receipt.problem };
      break;
    }
    for (const delivery of receipt.deliveries) {
      const task = processDelivery(delivery, desk).then(() => {
        inHand.delete(task);
        onFinished();
      });
      inHand.add(task);
    }
  }
  line.telemetry.step('draining', { queue, inHand: inHand.size });
  await Promise.all(inHand);
  if (bug !== undefined) throw bug.thrown;
  return end;
}

interface Source {
  /** Deliveries, perhaps none; a problem only where the queue is given up. */
  next(
    most: number,
    stop: AbortSignal,
  ): Promise<Extract<Receipt, { ok: true }> | { readonly problem: string }>;
}

const NOTHING = { ok: true, deliveries: [] } as const;
/** Somebody may delete or change a queue that was created: it is checked every five minutes. */
const QUEUE_CHECK_MS = 300_000;

/**
 * Receives. A failed receive is repeated after a growing pause: without limit if the broker cannot be reached, and
 * `maxAttempts` times if the queue is missing and cannot be created.
 */
function sourceFor({ queue, transport, line, missingQueue }: ConsumerDeps): Source {
  const { clock, telemetry } = line;
  let failures = 0;
  let timesMissing = 0;
  let checkedAt = Number.NEGATIVE_INFINITY;
  let notCreated: string | undefined;
  let loggedDifferences = '';

  async function ensureQueue(): Promise<void> {
    if (!missingQueue.autoCreate || clock.now() - checkedAt < QUEUE_CHECK_MS) return;
    checkedAt = clock.now();
    const reply = await transport.ensureQueue(queue);
    notCreated = reply.ok ? undefined : reply.problem;
    if (!reply.ok) {
      telemetry.warn('the queue could not be created or checked', { queue, problem: reply.problem });
      return;
    }
    const differences = reply.differences?.join('; ') ?? '';
    if (differences !== '' && differences !== loggedDifferences)
      telemetry.warn('the queue differs from the configuration and is left as it is', {
        queue,
        differences,
      });
    loggedDifferences = differences;
  }

  function whatToDo(): string {
    if (!missingQueue.autoCreate) return 'create it, or set ASYA_QUEUE_AUTO_CREATE=true';
    return `creating it failed (${notCreated ?? 'the broker does not find it yet'}); create it, or grant the permission`;
  }

  return {
    next: async (most, stop) => {
      await ensureQueue();
      const askedAt = clock.now();
      const receipt = await transport.receive(queue, most, stop);
      if (receipt.ok) {
        failures = 0;
        timesMissing = 0;
        telemetry.received(receipt.deliveries.length, clock.now() - askedAt);
        return receipt;
      }
      failures++;
      timesMissing = receipt.isQueueMissing ? timesMissing + 1 : 0;
      telemetry.warn('receiving failed', { queue, problem: receipt.problem, failures });
      if (receipt.isQueueMissing) {
        checkedAt = Number.NEGATIVE_INFINITY;
        if (timesMissing >= missingQueue.maxAttempts)
          return { problem: `${receipt.problem}: not found after ${timesMissing} attempts; ${whatToDo()}` };
      }
      await clock.sleep(Math.min(missingQueue.backoffMs * 2 ** (failures - 1), MAX_PAUSE_MS), stop);
      return NOTHING;
    },
  };
}
