import type { Message } from '@aws-sdk/client-sqs';
import { systemClock } from '../../adapters/system/system.ts';
import { semaphore } from '../../async/semaphore.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Attachment } from '../debugger/attachment.ts';
import { type BatchResult, batchResult } from './batch-result.ts';
import type { EventQueue } from './event-queue.ts';
import type { Invoke } from './invocation.ts';
import { keepHidden } from './keep-hidden.ts';
import { batchesThatFit, sqsEvent } from './sqs-event.ts';

/** Lambda's event source mapping between one queue and one function. Several event sources may share a function. */
export interface EventSource {
  /** Number of invocations in progress. */
  readonly running: number;
  /**
   * Stops polling. Resolves when the invocations in progress have ended or the grace period is over, with the number of
   * invocations that still run. Messages of the last poll are released.
   */
  stop(graceMs: number): Promise<number>;
}

export interface EventSourceOptions {
  readonly queue: EventQueue;
  /** Maximum number of messages per invocation. */
  readonly batchSize: number;
  /** How long a batch that is not full waits for more. */
  readonly batchWindowSeconds: number;
  /** Maximum number of invocations at the same time. */
  readonly maximumConcurrency: number;
  readonly invoke: Invoke;
  /** Awaited before each poll. While a function cannot be loaded, its queue is not polled. */
  readonly untilUsable?: (signal: AbortSignal) => Promise<void>;
  readonly onWarning: (text: string) => void;
  readonly onBatch?: (batch: BatchReport) => void;
  readonly clock?: Clock;
  /** While a debugger is attached, messages that are being processed stay hidden. Default: never attached. */
  readonly debugging?: { readonly attachment: Attachment; readonly visibilitySeconds: number };
}

export interface BatchReport extends BatchResult {
  readonly queue: string;
  readonly messages: number;
  readonly durationMs: number;
}

/** Short, because a poll cannot be aborted: the engine would continue it and receive messages for no consumer. */
const POLL_SECONDS = 1;
const FRACTION_MS = 100;
const FIRST_PAUSE_MS = 100;
const MAX_PAUSE_MS = 5_000;
const REMOVAL_TRIES = 3;

export function eventSource(options: EventSourceOptions): EventSource {
  const { queue, batchSize, maximumConcurrency, invoke, untilUsable, onWarning, onBatch } = options;
  const clock = options.clock ?? systemClock;
  const slots = semaphore(maximumConcurrency);
  const stopping = new AbortController();
  const inProgress = new Set<Promise<void>>();
  const isStopping = () => stopping.signal.aborted;

  /** Polls one at a time, and only if an invocation can start, so that messages are not hidden without being processed. */
  async function poll(): Promise<void> {
    for (;;) {
      await untilUsable?.(stopping.signal);
      await slots.acquire();
      if (isStopping()) return;
      const messages = await gather();
      if (isStopping()) return release(messages);
      if (messages.length === 0) slots.release();
      else start(messages);
    }
  }

  async function gather(): Promise<readonly Message[]> {
    const batch = [...(await receive(batchSize, POLL_SECONDS))];
    if (batch.length === 0) return batch;
    const endsAt = clock.now() + options.batchWindowSeconds * 1000;
    while (batch.length < batchSize && !isStopping()) {
      const leftMs = endsAt - clock.now();
      if (leftMs <= 0 || batchesThatFit(batch).length > 1) break;
      const isWholePoll = leftMs >= POLL_SECONDS * 1000;
      const more = await receive(batchSize - batch.length, isWholePoll ? POLL_SECONDS : 0);
      batch.push(...more);
      if (!isWholePoll && more.length === 0)
        await clock.sleep(Math.min(leftMs, FRACTION_MS), stopping.signal);
    }
    return batch;
  }

  let pauseMs = FIRST_PAUSE_MS;

  /** If the queue does not respond, warns once and returns no messages after a pause. */
  async function receive(max: number, waitSeconds: number): Promise<readonly Message[]> {
    try {
      const messages = await queue.receive(max, waitSeconds);
      pauseMs = FIRST_PAUSE_MS;
      return messages;
    } catch (error) {
      if (isStopping()) return [];
      if (pauseMs === FIRST_PAUSE_MS)
        onWarning(
          `queue "${queue.name}" does not respond: ${describeError(error)}; polling is retried until it does`,
        );
      await clock.sleep(pauseMs, stopping.signal);
      pauseMs = Math.min(pauseMs * 2, MAX_PAUSE_MS);
      return [];
    }
  }

  function start(messages: readonly Message[]): void {
    const over = new AbortController();
    if (options.debugging !== undefined)
      void keepHidden({ queue, messages, clock, over: over.signal, ...options.debugging });
    const run = handle(messages).finally(() => {
      over.abort();
      inProgress.delete(run);
      slots.release();
    });
    inProgress.add(run);
  }

  async function handle(messages: readonly Message[]): Promise<void> {
    for (const batch of batchesThatFit(messages)) {
      const startedAt = clock.now();
      const end = await invoke(sqsEvent(batch, queue.arn));
      const result = batchResult(
        end,
        batch.map(({ MessageId = '' }) => MessageId),
      );
      await remove(batch.filter(({ MessageId = '' }) => !result.failed.has(MessageId)));
      const durationMs = clock.now() - startedAt;
      onBatch?.({ ...result, queue: queue.name, messages: batch.length, durationMs });
    }
  }

  async function remove(done: readonly Message[]): Promise<void> {
    if (done.length === 0) return;
    for (let tries = 1; ; tries++) {
      try {
        return await queue.remove(done);
      } catch (error) {
        if (tries < REMOVAL_TRIES) await clock.sleep(FIRST_PAUSE_MS * 2 ** tries);
        else
          return onWarning(
            `could not delete ${done.length} processed messages of queue "${queue.name}", so they are delivered again: ${describeError(error)}`,
          );
      }
    }
  }

  async function release(messages: readonly Message[]): Promise<void> {
    try {
      if (messages.length > 0) await queue.release(messages);
    } catch {
      // They are delivered again after their visibility timeout anyway.
    }
  }

  const polling = poll();
  return {
    get running() {
      return inProgress.size;
    },
    stop: async (graceMs) => {
      stopping.abort();
      const over = new AbortController();
      await Promise.race([Promise.all([polling, ...inProgress]), clock.sleep(graceMs, over.signal)]);
      over.abort();
      return inProgress.size;
    },
  };
}

function describeError(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  // The error of a refused connection to several addresses has an empty message.
  const { code } = error as NodeJS.ErrnoException;
  return error.message || code || error.name;
}
