import type { Clock } from '../../ports/clock.ts';
import type { Runtime } from '../../ports/runtime.ts';
import type { Details } from '../../ports/telemetry.ts';

/** Watches whether the runtime answers, for the log and for health checks. */
export interface RuntimeWatch {
  /** Resolves when the runtime is ready for the first time, or when `stop` aborts. */
  untilReady(stop: AbortSignal): Promise<void>;
  /** Why the platform should restart this process: there has been no runtime for too long. Undefined: alive. */
  liveness(): string | undefined;
  close(): Promise<void>;
}

export interface RuntimeWatchOptions {
  readonly runtime: Pick<Runtime, 'problem' | 'waitsFor'>;
  /** The runtime's address for the log, without passwords. */
  readonly address: string;
  /** How long a runtime may take to load. The process stays alive at least that long without one. */
  readonly startupTimeoutMs: number;
  readonly clock: Clock;
  readonly log: (level: 'info' | 'warn', message: string, details: Details) => void;
}

const CHECK_AT_START_MS = 50;
const CHECK_LATER_MS = 5_000;
const NOT_ALIVE_AFTER_MS = 60_000;
/** A runtime that starts within a second is not logged. */
const FIRST_LINE_AFTER_MS = 1_000;
const NEXT_LINE_AFTER_MS = 30_000;

export function watchRuntime(options: RuntimeWatchOptions): RuntimeWatch {
  const { runtime, address, clock, log } = options;
  const notAliveAfterMs = Math.max(NOT_ALIVE_AFTER_MS, options.startupTimeoutMs);
  const closing = new AbortController();
  const startedAt = clock.now();
  let lastSeenAt: number | undefined;
  let problem: string | undefined;
  let nextLineAfterMs = FIRST_LINE_AFTER_MS;

  const missingMs = () => clock.now() - (lastSeenAt ?? startedAt);

  function logWaiting(): void {
    const waitedMs = missingMs();
    if (problem === undefined || waitedMs < nextLineAfterMs) return;
    nextLineAfterMs = waitedMs + NEXT_LINE_AFTER_MS;
    log('warn', 'waiting for the runtime', { address, waitedMs, problem });
  }

  async function check(): Promise<void> {
    problem = await runtime.problem();
    if (closing.signal.aborted) return;
    logWaiting();
    if (problem !== undefined) return;
    if (nextLineAfterMs !== FIRST_LINE_AFTER_MS)
      log('info', 'the runtime is ready', { address, waitedMs: missingMs() });
    nextLineAfterMs = FIRST_LINE_AFTER_MS;
    lastSeenAt = clock.now();
  }

  const watching = (async () => {
    while (!closing.signal.aborted) {
      await check();
      await clock.sleep(lastSeenAt === undefined ? CHECK_AT_START_MS : CHECK_LATER_MS, closing.signal);
    }
  })();

  return {
    untilReady: async (stop) => {
      while (lastSeenAt === undefined && !stop.aborted) await clock.sleep(CHECK_AT_START_MS, stop);
    },
    liveness: () => {
      const forMs = missingMs();
      if (problem === undefined || forMs <= notAliveAfterMs) return undefined;
      if (runtime.waitsFor?.() !== undefined) return undefined;
      return `the runtime at ${address} has not been ready for ${Math.round(forMs / 1000)} s: ${problem}`;
    },
    close: async () => {
      closing.abort();
      await watching;
    },
  };
}
