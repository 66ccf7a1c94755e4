import type { Message } from '@aws-sdk/client-sqs';
import { systemClock } from '../../adapters/system/system.ts';
import { semaphore } from '../../async/semaphore.ts';
import type { Clock } from '../../ports/clock.ts';
import { type BatchResult, batchResult } from './batch-result.ts';
import type { EventQueue } from './event-queue.ts';
import type { Invoke } from './invocation.ts';
import { batchesThatFit, sqsEvent } from './sqs-event.ts';

/** Between one queue and one function, what Lambda's event source mapping is. Several may share a function. */
export interface EventSource {
  /** Invocations under way. */
  readonly running: number;
  /**
   * No polls any more; resolves when the invocations under way are over or the grace is, with how many still ran.
   * What the last poll still brought is put back.
   */
  stop(graceMs: number): Promise<number>;
}

export interface EventSourceOptions {
  readonly queue: EventQueue;
  /** Messages that one invocation gets at the most. */
  readonly batchSize: number;
  /** How long a batch that is not full waits for more. */
  readonly batchWindowSeconds: number;
  /** So many invocations at once. */
  readonly maximumConcurrency: number;
  readonly invoke: Invoke;
  /** Asked before each poll: as long as a function cannot run, its messages are left alone. */
  readonly untilUsable?: (signal: AbortSignal) => Promise<void>;
  readonly onWarning: (text: string) => void;
  readonly onBatch?: (batch: BatchReport) => void;
  readonly clock?: Clock;
}

export interface BatchReport extends BatchResult {
  readonly queue: string;
  readonly messages: number;
  readonly durationMs: number;
}

/** Short, because a poll is never cut off: the engine would go on with it and take what comes for nobody. */
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
  const underWay = new Set<Promise<void>>();
  const isStopping = () => stopping.signal.aborted;

  /** One poll at a time: it starts only where an invocation could, so that nothing is hidden in vain. */
  async function poll(): Promise<void> {
    for (;;) {
      await untilUsable?.(stopping.signal);
      await slots.acquire();
      if (isStopping()) return;
      const messages = await gather();
      if (isStopping()) return putBack(messages);
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

  /** Nothing, after a pause, where the queue does not answer: told once. */
  async function receive(max: number, waitSeconds: number): Promise<readonly Message[]> {
    try {
      const messages = await queue.receive(max, waitSeconds);
      pauseMs = FIRST_PAUSE_MS;
      return messages;
    } catch (error) {
      if (isStopping()) return [];
      if (pauseMs === FIRST_PAUSE_MS)
        onWarning(
          `queue "${queue.name}" does not answer: ${wordsOf(error)}; it is asked again until it does`,
        );
      await clock.sleep(pauseMs, stopping.signal);
      pauseMs = Math.min(pauseMs * 2, MAX_PAUSE_MS);
      return [];
    }
  }

  function start(messages: readonly Message[]): void {
    const run = handle(messages).finally(() => {
      underWay.delete(run);
      slots.release();
    });
    underWay.add(run);
  }

  async function handle(messages: readonly Message[]): Promise<void> {
    for (const batch of batchesThatFit(messages)) {
      const startedAt = clock.now();
      const end = await invoke(sqsEvent(batch, queue.arn));
      const verdict = batchResult(
        end,
        batch.map(({ MessageId = '' }) => MessageId),
      );
      await remove(batch.filter(({ MessageId = '' }) => !verdict.failed.has(MessageId)));
      const durationMs = clock.now() - startedAt;
      onBatch?.({ ...verdict, queue: queue.name, messages: batch.length, durationMs });
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
            `${done.length} messages of queue "${queue.name}" are done and could not be deleted, so they come again: ${wordsOf(error)}`,
          );
      }
    }
  }

  async function putBack(messages: readonly Message[]): Promise<void> {
    try {
      if (messages.length > 0) await queue.release(messages);
    } catch {
      // They come again all the same, when their visibility ends.
    }
  }

  const polling = poll();
  return {
    get running() {
      return underWay.size;
    },
    stop: async (graceMs) => {
      stopping.abort();
      const over = new AbortController();
      await Promise.race([Promise.all([polling, ...underWay]), clock.sleep(graceMs, over.signal)]);
      over.abort();
      return underWay.size;
    },
  };
}

function wordsOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  // A refused connection to several addresses has no message of its own.
  const { code } = error as NodeJS.ErrnoException;
  return error.message || code || error.name;
}
