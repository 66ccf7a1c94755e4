import type { Clock } from '../../ports/clock.ts';
import { type PausableTimeouts, pausableTimeouts } from './pausable-timeouts.ts';

/** Whether a debugger is attached to an actor's handler. */
export interface Attachment {
  readonly isAttached: boolean;
  /** Timeouts that pause while a debugger is attached. */
  readonly timeouts: PausableTimeouts;
  /** Calls back after each change. Returns a function that ends this. */
  onChange(listener: () => void): () => void;
}

export interface ChangeableAttachment extends Attachment {
  set(isAttached: boolean): void;
}

export function attachment(clock: Clock): ChangeableAttachment {
  const timeouts = pausableTimeouts(clock);
  const listeners = new Set<() => void>();
  return {
    get isAttached() {
      return timeouts.isPaused;
    },
    timeouts,
    onChange: (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    set: (isAttached) => {
      if (isAttached === timeouts.isPaused) return;
      if (isAttached) timeouts.pause();
      else timeouts.resume();
      for (const listener of [...listeners]) listener();
    },
  };
}
