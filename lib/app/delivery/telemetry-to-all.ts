import type { Telemetry } from '../../ports/telemetry.ts';

/** Passes every fact on to all listeners. */
export function telemetryToAll(...listeners: readonly Telemetry[]): Telemetry {
  return {
    received: (count, waitedMs) => {
      for (const listener of listeners) listener.received(count, waitedMs);
    },
    began: () => {
      for (const listener of listeners) listener.began();
    },
    ended: (report) => {
      for (const listener of listeners) listener.ended(report);
    },
    warn: (what, details) => {
      for (const listener of listeners) listener.warn(what, details);
    },
    progress: (progress) => {
      for (const listener of listeners) listener.progress?.(progress);
    },
    step: (what, details) => {
      for (const listener of listeners) listener.step(what, details);
    },
  };
}
