import { semaphore } from '../../async/semaphore.ts';
import type { Receipt, Transport } from '../../ports/transport.ts';
import type { DeliveryLine } from './handle-delivery.ts';
import { prefetchFor } from './prefetch.ts';
import { processDelivery } from './process-delivery.ts';

export interface ConsumerDeps {
  readonly queue: string;
  readonly transport: Transport;
  readonly line: DeliveryLine;
  /** How many deliveries may be in a call at the same time. */
  readonly concurrency: number;
  readonly missingQueue: MissingQueue;
}

/** What to do if the queue does not exist. */
export interface MissingQueue {
  readonly autoCreate: boolean;
  /** How many receives may find the queue missing before the consumer ends. */
  readonly maxAttempts: number;
  /** The first pause after a failed receive. It doubles with every failure. */
  readonly backoffMs: number;
}

export type ConsumeResult =
  /** It was stopped, and every delivery it had received is settled. */
  | { readonly why: 'stopped' }
  /** A call hung in a runtime that this process did not start and cannot restart. */
  | { readonly why: 'hung' }
  | { readonly why: 'queue-missing'; readonly problem: string };

const MAX_PAUSE_MS = 30_000;

/**
 * Receives and processes a queue's deliveries until `stop` aborts, until a call hangs in a runtime that this process
 * cannot restart, or until the queue has been missing for too long. Rejects after draining if processing a delivery
 * threw an error.
 */
export async function consumeQueue(deps: ConsumerDeps, stop: AbortSignal): Promise<ConsumeResult> {
  const { queue, transport, line, concurrency } = deps;
  const { maxBatch } = transport.traits;
  const ending = new AbortController();
  const anyStop = AbortSignal.any([stop, ending.signal]);
  const slots = semaphore(concurrency);
  const prefetch = prefetchFor(concurrency, maxBatch);
  const inFlight = new Set<Promise<void>>();
  const receiver = receiverFor(deps);
  let end: ConsumeResult = { why: 'stopped' };
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
  const deliveryDeps = {
    transport,
    line,
    slots,
    stop: anyStop,
    onCallMs: prefetch.recordCall,
    onHung,
    onBug,
  };

  while (!anyStop.aborted) {
    const capacity = concurrency + prefetch.limit;
    const free = capacity - inFlight.size;
    const isIdle = inFlight.size === 0 || (slots.waiting === 0 && slots.running < concurrency && free > 0);
    if (free < Math.min(maxBatch, capacity) && !isIdle) {
      // Not Promise.race over `inFlight`: each race would add a callback to a slow delivery's promise until it ends.
      await new Promise<void>((resolve) => {
        onFinished = resolve;
      });
      continue;
    }
    // Other sidecars can process the deliveries while this runtime is not ready.
    await line.runtime.untilReady?.(anyStop);
    const receipt = await receiver.next(Math.min(maxBatch, free), anyStop);
    if ('problem' in receipt) {
      end = { why: 'queue-missing', problem: receipt.problem };
      break;
    }
    for (const delivery of receipt.deliveries) {
      const task = processDelivery(delivery, deliveryDeps).then(() => {
        inFlight.delete(task);
        onFinished();
      });
      inFlight.add(task);
    }
  }
  line.telemetry.step('draining', { queue, inFlight: inFlight.size });
  await Promise.all(inFlight);
  if (bug !== undefined) throw bug.thrown;
  return end;
}

interface Receiver {
  /** Resolves with deliveries, possibly none. A problem means that the queue is missing and the consumer should end. */
  next(
    max: number,
    stop: AbortSignal,
  ): Promise<Extract<Receipt, { ok: true }> | { readonly problem: string }>;
}

const NOTHING = { ok: true, deliveries: [] } as const;
/** Somebody may delete or change the queue while the consumer runs, so it checks the queue every five minutes. */
const QUEUE_CHECK_MS = 300_000;

/**
 * Receives. A failed receive is repeated after a growing pause: without limit if the broker cannot be reached, and
 * `maxAttempts` times if the queue is missing and cannot be created.
 */
function receiverFor({ queue, transport, line, missingQueue }: ConsumerDeps): Receiver {
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
      telemetry.warn('the queue differs from the configuration; it was not changed', {
        queue,
        differences,
      });
    loggedDifferences = differences;
  }

  function whatToDo(): string {
    if (!missingQueue.autoCreate) return 'create it, or set ASYA_QUEUE_AUTO_CREATE=true';
    return `creating it failed (${notCreated ?? 'the broker does not find it yet'}); create it, or grant the permission to create it`;
  }

  return {
    next: async (max, stop) => {
      await ensureQueue();
      const startedAt = clock.now();
      const receipt = await transport.receive(queue, max, stop);
      if (receipt.ok) {
        failures = 0;
        timesMissing = 0;
        telemetry.received(receipt.deliveries.length, clock.now() - startedAt);
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
