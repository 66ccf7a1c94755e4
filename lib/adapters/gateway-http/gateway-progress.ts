import type { StepReport } from '../../core/task/report.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Progress } from '../../ports/reports.ts';
import { type GatewayAddress, type PostReports, signedPost } from './signed-post.ts';

export interface ProgressOptions {
  readonly clock: Clock;
  /** What was not told, and why: once for each silence. */
  readonly onTrouble: (problem: string) => void;
  readonly post?: PostReports;
}

/** What an envelope waits for an answer, at most. */
const WAIT_MS = 250;
/** After one that did not come, for so long nobody waits: one wait in so much time is less than a hundredth. */
const NOBODY_WAITS_MS = 30_000;
/** A gateway that answers, but slower than this, is waited for a tenth of the time. */
const SLOW_MS = 100;
const SLOW_FACTOR = 10;
/** What a request may take that nobody waits for. */
const REQUEST_MS = 2_000;
const LINGER_MS = 20;
const MAX_IN_REQUEST = 100;
/** With a gateway that hangs, the oldest are lost. */
const MAX_WAITING = 1_000;
const FLUSH_MS = 250;
const MAX_REMEMBERED = 1_000;

interface Waiting {
  readonly report: StepReport;
  readonly answered: (isCanceled: boolean) => void;
}

/**
 * Reports of the way, in batches. One request at a time is enough for many envelopes, and a gateway that hangs then
 * holds a single connection, whatever the sidecar does meanwhile.
 */
export function gatewayProgress(gateway: GatewayAddress, options: ProgressOptions): Progress {
  const { clock, onTrouble, post = signedPost(gateway, clock.now) } = options;
  const waiting: Waiting[] = [];
  const canceledTasks = new Set<string>();
  let nobodyWaitsUntil = 0;
  let isHung = false;
  let isTroubled = false;
  let underWay: Promise<void> | undefined;
  let timer: NodeJS.Timeout | undefined;

  function add(report: StepReport, answered: (isCanceled: boolean) => void): void {
    waiting.push({ report, answered });
    for (const { answered: lost } of waiting.splice(0, waiting.length - MAX_WAITING)) lost(false);
  }

  function send(): void {
    clearTimeout(timer);
    timer = undefined;
    if (underWay !== undefined || waiting.length === 0) return;
    const batch = waiting.splice(0, MAX_IN_REQUEST);
    underWay = tell(batch).finally(() => {
      underWay = undefined;
      send();
    });
  }

  async function tell(batch: readonly Waiting[]): Promise<void> {
    const askedAt = clock.now();
    const signal = AbortSignal.timeout(REQUEST_MS);
    const answer = await post(
      batch.map(({ report }) => report),
      signal,
    );
    const canceled = 'problem' in answer ? new Set<string>() : answer.canceled;
    for (const { report, answered } of batch) answered(canceled.has(report.task));
    if ('problem' in answer) {
      if (!isTroubled) onTrouble(answer.problem);
      isTroubled = true;
      return;
    }
    isTroubled = false;
    const tookMs = clock.now() - askedAt;
    if (isHung) nobodyWaitsUntil = pauseAfter(tookMs > SLOW_MS ? WAIT_MS : 0);
    isHung = false;
    for (const task of canceled) canceledTasks.add(task);
    for (const task of canceledTasks) {
      if (canceledTasks.size <= MAX_REMEMBERED) break;
      canceledTasks.delete(task);
    }
  }

  function giveUp(): void {
    isHung = true;
    nobodyWaitsUntil = clock.now() + NOBODY_WAITS_MS;
  }

  function pauseAfter(tookMs: number): number {
    return tookMs > SLOW_MS ? clock.now() + tookMs * SLOW_FACTOR : 0;
  }

  return {
    arrived: async (report) => {
      // An answer that nobody waited for is good for whoever comes next.
      if (canceledTasks.has(report.task)) return true;
      if (clock.now() < nobodyWaitsUntil) {
        add(report, () => {});
        send();
        return false;
      }
      const askedAt = clock.now();
      const over = new AbortController();
      const answer = new Promise<boolean>((resolve) => add(report, resolve));
      send();
      const late = clock.sleep(WAIT_MS, over.signal).then(() => undefined);
      const isCanceled = await Promise.race([answer, late]);
      over.abort();
      if (isCanceled === undefined) giveUp();
      else nobodyWaitsUntil = pauseAfter(clock.now() - askedAt);
      return isCanceled ?? false;
    },
    note: (report) => {
      add(report, () => {});
      timer ??= setTimeout(send, LINGER_MS).unref();
    },
    flush: async () => {
      if (waiting.length === 0 && underWay === undefined) return;
      send();
      // Nobody waits for one who does not answer.
      if (clock.now() < nobodyWaitsUntil) return;
      const over = new AbortController();
      const late = clock.sleep(FLUSH_MS, over.signal).then(() => true);
      const isLate = await Promise.race([drained(), late]);
      over.abort();
      if (isLate) giveUp();
    },
  };

  async function drained(): Promise<boolean> {
    while (underWay !== undefined) await underWay;
    return false;
  }
}
