import type { CallEnd } from '../../core/delivery/outcome.ts';
import { durationText } from '../../core/text/duration.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Runtime, RuntimeRequest, StartEnd } from '../../ports/runtime.ts';
import { type Child, startChild } from './child.ts';

export interface ProcessRuntimeOptions {
  readonly command: string;
  readonly env: Record<string, string>;
  /** How to reach it. */
  readonly client: Runtime;
  readonly clock: Clock;
  /** How long it may take to become ready before it is killed and started again. Undefined: as long as it takes. */
  readonly startupTimeoutMs?: number;
  /** What it printed; with the envelope whose call is under way, where it is the only one. */
  readonly onLine: (stream: 'stdout' | 'stderr', line: string, envelopeId: string | undefined) => void;
  readonly onTrouble: (what: string, details: Readonly<Record<string, string | number>>) => void;
}

const FIRST_LOOK_MS = 10;
const MAX_LOOK_MS = 250;
const FIRST_PAUSE_MS = 100;
const MAX_PAUSE_MS = 30_000;
/** A runtime that lived this long starts its next life with a short pause again. */
const LONG_LIFE_MS = 60_000;
const STOP_WITHIN_MS = 5_000;
/** From a lost connection to the news that the process is gone: the shell around it may be slow to end. */
const DEATH_NOTICE_MS = 5_000;

/** From the decision to start the process to its end. */
interface Life {
  child?: Child;
  isReady: boolean;
  /** Ready, or over. */
  readonly settled: Promise<void>;
  readonly over: AbortController;
  /** The last it said on stderr before it was ready. */
  lastWords?: string;
  /** How it ended. */
  how?: string;
}

/** A runtime that the sidecar starts itself: waited for, started again when it dies, killed when it hangs. */
export function processRuntime(options: ProcessRuntimeOptions): Runtime {
  const { client, clock, onTrouble } = options;
  const underWay = new Map<object, string>();
  const closing = new AbortController();
  let interruption = new AbortController();
  let pauseMs = FIRST_PAUSE_MS;
  /** The last one, where it ended before it was ready: why there is none now. */
  let failedStart: Life | undefined;
  let life = startLife(Promise.resolve());

  function startLife(after: Promise<unknown>): Life {
    const over = new AbortController();
    const self: Life = { isReady: false, over, settled: after.then(() => live(self)) };
    return self;
  }

  /** Starts the process and resolves when it is ready or gone. */
  async function live(self: Life): Promise<void> {
    if (self.over.signal.aborted) return;
    const startedAt = clock.now();
    const child = startChild({
      command: options.command,
      env: options.env,
      onLine: (stream, line) => {
        if (stream === 'stderr' && !self.isReady) self.lastWords = line;
        options.onLine(stream, line, soleCall(underWay));
      },
    });
    self.child = child;
    child.exited.then((how) => end(self, child, how, clock.now() - startedAt));
    const heard = new AbortController();
    killIfLate(self, child, AbortSignal.any([self.over.signal, heard.signal]));
    self.isReady = await untilHeard(client, clock, self.over.signal);
    heard.abort();
    if (self.isReady) failedStart = undefined;
  }

  async function killIfLate(self: Life, child: Child, isInTime: AbortSignal): Promise<void> {
    const { startupTimeoutMs } = options;
    if (startupTimeoutMs === undefined) return;
    await clock.sleep(startupTimeoutMs, isInTime);
    if (isInTime.aborted) return;
    self.how = `did not become ready within ${durationText(startupTimeoutMs)} (ASYA_RUNTIME_STARTUP_TIMEOUT)`;
    onTrouble('the runtime did not become ready in time and is killed', { pid: child.pid, startupTimeoutMs });
    child.kill();
  }

  function end(self: Life, child: Child, how: string, livedMs: number): void {
    failedStart = self.isReady ? undefined : self;
    self.how ??= how;
    self.isReady = false;
    self.over.abort();
    if (closing.signal.aborted || self !== life) return;
    if (livedMs > LONG_LIFE_MS) pauseMs = FIRST_PAUSE_MS;
    onTrouble('the runtime is gone', { how: self.how, pid: child.pid, againInMs: pauseMs });
    life = startLife(Promise.all([clock.sleep(pauseMs, closing.signal), child.gone]));
    pauseMs = Math.min(pauseMs * 2, MAX_PAUSE_MS);
  }

  /** The runtime hung: killed with all it started, and started afresh. Its other calls go back unchanged. */
  function replace(hung: Life): void {
    if (hung !== life || closing.signal.aborted) return;
    onTrouble('the runtime hung and is killed', { pid: hung.child?.pid ?? 0 });
    hung.over.abort();
    hung.child?.kill();
    client.interrupt();
    life = startLife(hung.child?.gone ?? Promise.resolve());
  }

  /** What is left of the time once the runtime is ready; undefined where it was not in time. */
  async function timeLeftWhenReady(current: Life, timeoutMs: number): Promise<number | undefined> {
    if (current.isReady) return timeoutMs;
    // A runtime that cannot be loaded would take all of the call's time to say so.
    if (failedStart !== undefined) return undefined;
    const startedAt = clock.now();
    const waiting = new AbortController();
    const over = AbortSignal.any([waiting.signal, interruption.signal]);
    await Promise.race([current.settled, clock.sleep(timeoutMs, over)]);
    waiting.abort();
    const leftMs = timeoutMs - (clock.now() - startedAt);
    return current.isReady && leftMs > 0 ? leftMs : undefined;
  }

  async function untilReady(stop: AbortSignal): Promise<void> {
    const over = AbortSignal.any([stop, closing.signal]);
    while (!life.isReady && !over.aborted) {
      const settled = new AbortController();
      await Promise.race([life.settled, clock.sleep(MAX_PAUSE_MS, AbortSignal.any([over, settled.signal]))]);
      settled.abort();
    }
  }

  async function untilStarted(stop: AbortSignal): Promise<StartEnd> {
    const interrupted = interruption.signal;
    const settled = new AbortController();
    const over = AbortSignal.any([stop, interrupted, settled.signal]);
    await Promise.race([life.settled, clock.sleep(Number.POSITIVE_INFINITY, over)]);
    settled.abort();
    if (interrupted.aborted) return 'interrupted';
    return stop.aborted ? 'stopped' : 'settled';
  }

  /** Also those who wait for the runtime: nobody is to be called any more. */
  function interrupt(): void {
    interruption.abort();
    interruption = new AbortController();
    client.interrupt();
  }

  /** Undefined where the runtime was not ready in time. */
  async function callOnce(request: RuntimeRequest, current: Life): Promise<CallEnd | undefined> {
    const timeoutMs = await timeLeftWhenReady(current, request.timeoutMs);
    if (timeoutMs === undefined) return undefined;
    const token = {};
    underWay.set(token, request.envelope.id);
    const end = await client.call({ ...request, timeoutMs });
    // What was printed before the answer is read in the same turn of the loop, but perhaps after it.
    setImmediate(() => underWay.delete(token));
    if (end.kind === 'timeout') replace(current);
    return end;
  }

  /**
   * A call that met a dying runtime and was never heard is made again in its next life: it is nobody's failure. Where
   * that takes longer to begin than the call has, it goes back unchanged.
   */
  async function call(request: RuntimeRequest): Promise<CallEnd> {
    const until = clock.now() + request.timeoutMs;
    const interrupted = interruption.signal;
    for (let isFirst = true; ; isFirst = false) {
      const current = life;
      const timeoutMs = until - clock.now();
      const end = await callOnce({ ...request, timeoutMs }, current);
      if (end === undefined && interrupted.aborted) return { kind: 'interrupted' };
      if (end === undefined)
        return isFirst ? { kind: 'unreachable', detail: notReady(failedStart) } : { kind: 'interrupted' };
      if (end.kind !== 'unreachable' || !end.isUnsent) return end;
      await clock.sleep(Math.min(until - clock.now(), DEATH_NOTICE_MS), current.over.signal);
      if (current === life || clock.now() >= until) return end;
    }
  }

  return {
    restartsItself: true,
    call,
    interrupt,
    untilReady,
    // After a failed start it pauses: a call reports at once why there is no runtime.
    isStarting: () => !life.isReady && (failedStart === undefined || life.child !== undefined),
    untilStarted,
    problem: async () => (life.isReady ? client.problem() : 'the runtime is not ready'),
    close: async (withinMs = STOP_WITHIN_MS) => {
      closing.abort();
      interruption.abort();
      life.over.abort();
      if (life.child !== undefined) {
        await life.settled;
        await life.child.stop(Math.min(withinMs, STOP_WITHIN_MS));
      }
      await client.close();
    },
  };
}

const MAX_WORDS = 500;

/** It ends at x-sink, where somebody has to find out why without the log of that hour. */
function notReady(failedStart: Life | undefined): string {
  const what = 'the runtime did not become ready';
  if (failedStart === undefined) return what;
  const { how, lastWords } = failedStart;
  return `${what}: it ${how}${lastWords === undefined ? '' : `; ${lastWords.slice(0, MAX_WORDS)}`}`;
}

function soleCall(underWay: ReadonlyMap<object, string>): string | undefined {
  return underWay.size === 1 ? underWay.values().next().value : undefined;
}

async function untilHeard(client: Runtime, clock: Clock, over: AbortSignal): Promise<boolean> {
  for (let pauseMs = FIRST_LOOK_MS; !over.aborted; pauseMs = Math.min(pauseMs * 2, MAX_LOOK_MS)) {
    if ((await client.problem()) === undefined) return !over.aborted;
    await clock.sleep(pauseMs, over);
  }
  return false;
}
