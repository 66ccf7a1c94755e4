import { untilAborted } from '../../async/until-aborted.ts';
import type { Clock } from '../../ports/clock.ts';
import type { RenewableRuntime, Runtime } from '../../ports/runtime.ts';
import type { SecretValues } from './secret-values.ts';

/** A delivery waits this long for secrets to be read again. Then it uses the last values. */
const MAX_WAIT_MS = 2_000;

/**
 * A runtime whose calls use fresh secrets: before a call, secrets that are due are read again, and if one has changed, the
 * runtime is renewed. Nothing happens between calls, so this also works on hosts whose time stops between calls, such as
 * Lambda, and an actor without work reads nothing.
 */
export function withFreshSecrets(
  runtime: RenewableRuntime,
  secrets: SecretValues,
  clock: Clock,
  onRenew: () => void,
): Runtime {
  let interruption = new AbortController();
  /** Set while secrets are read again, for all deliveries that wait for it. */
  let refreshing: Promise<void> | undefined;

  async function refresh(): Promise<void> {
    if (!(await secrets.refresh())) return;
    onRenew();
    runtime.renew();
  }

  return {
    ...runtime,
    isStarting: () => secrets.isDue() || runtime.isStarting?.() === true,
    untilStarted: async (stop) => {
      const interrupted = interruption.signal;
      if (secrets.isDue()) {
        const refreshed = new AbortController();
        refreshing ??= refresh().finally(() => {
          refreshing = undefined;
        });
        await Promise.race([
          refreshing,
          clock.sleep(MAX_WAIT_MS, refreshed.signal),
          untilAborted(stop, interrupted),
        ]);
        refreshed.abort();
      }
      if (interrupted.aborted) return 'interrupted';
      if (stop.aborted) return 'stopped';
      return (await runtime.untilStarted?.(stop)) ?? 'settled';
    },
    interrupt: () => {
      interruption.abort();
      interruption = new AbortController();
      runtime.interrupt();
    },
    close: async (withinMs) => {
      secrets.close();
      await runtime.close(withinMs);
    },
  };
}
