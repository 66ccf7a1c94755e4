import type { Clock } from '../ports/clock.ts';
import type { Runtime } from '../ports/runtime.ts';

/** An eye on the runtime, for whoever asks whether the sidecar is well. */
export interface RuntimeWatch {
  /** Resolves when the runtime is ready for the first time, or when told to stop. */
  untilReady(stop: AbortSignal): Promise<void>;
  /** Why the sidecar should be started again: the runtime was there and has been gone for a minute. */
  sickness(): string | undefined;
  close(): Promise<void>;
}

const LOOK_AT_START_MS = 50;
const LOOK_LATER_MS = 5_000;
const GONE_TOO_LONG_MS = 60_000;

export function watchRuntime(runtime: Runtime, clock: Clock): RuntimeWatch {
  const closing = new AbortController();
  let lastSeenAt: number | undefined;
  let problem: string | undefined;

  async function look(): Promise<void> {
    problem = await runtime.problem();
    if (problem === undefined) lastSeenAt = clock.now();
  }

  const watching = (async () => {
    while (!closing.signal.aborted) {
      await look();
      await clock.sleep(lastSeenAt === undefined ? LOOK_AT_START_MS : LOOK_LATER_MS, closing.signal);
    }
  })();

  return {
    untilReady: async (stop) => {
      while (lastSeenAt === undefined && !stop.aborted) await clock.sleep(LOOK_AT_START_MS, stop);
    },
    sickness: () => {
      const goneMs = lastSeenAt === undefined ? 0 : clock.now() - lastSeenAt;
      return goneMs > GONE_TOO_LONG_MS
        ? `the runtime has been gone for ${Math.round(goneMs / 1000)} s: ${problem}`
        : undefined;
    },
    close: async () => {
      closing.abort();
      await watching;
    },
  };
}
