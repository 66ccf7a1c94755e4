import type { CallResult } from '../core/delivery/outcome.ts';
import type { Envelope } from '../core/envelope/envelope.ts';
import type { HandlerProgress } from '../core/envelope/handler-progress.ts';

/** The process that hosts the user's handler. */
export interface Runtime {
  /** Whether the runtime kills and restarts itself after a call that hung. If not, the host has to end. */
  readonly restartsItself: boolean;
  /**
   * Calls the handler once. Resolves within the request's timeout and never rejects: every failure of a runtime is a
   * `CallResult`. After `timeout` the runtime may be in any state, and must be restarted before the next call.
   */
  call(request: RuntimeRequest): Promise<CallResult>;
  /**
   * How many calls the host should make at the same time. Those beyond `ASYA_CONCURRENCY` wait inside the runtime for
   * their turn, so that it need not wait for the next one. Absent: `ASYA_CONCURRENCY`.
   */
  capacity?(): number;
  /**
   * Asks the handlers of the calls in flight to end early, because the host is about to stop. A call that then fails
   * ends as `interrupted`. Absent if the protocol has no way to ask.
   */
  cancel?(): void;
  /** Ends every call, and every wait for the runtime's start, as `interrupted`. */
  interrupt(): void;
  /**
   * Resolves when the runtime is ready for calls, or when the signal aborts. Absent if another process starts the
   * runtime: a call then finds out whether it is ready.
   */
  untilReady?(stop: AbortSignal): Promise<void>;
  /** Whether the runtime is starting. That time does not count towards a call's timeout. */
  isStarting?(): boolean;
  /** Resolves when the runtime is ready, its start has failed, `stop` aborts, or `interrupt` is called. */
  untilStarted?(stop: AbortSignal): Promise<StartResult>;
  /**
   * What the start waits for, if a restart of this process would not help: for example a secret that cannot be read.
   * Undefined: nothing.
   */
  waitsFor?(): string | undefined;
  /** Undefined if the runtime is ready for calls, otherwise the reason why it is not. */
  problem(): Promise<string | undefined>;
  /** Ends the runtime. A runtime that this process started is killed if it does not exit within the time limit. */
  close(withinMs?: number): Promise<void>;
}

/** A runtime that can be started again with a new environment. */
export interface RenewableRuntime extends Runtime {
  /**
   * Replaces the process. Calls in flight end first; new calls wait for the new process, and the wait does not count
   * towards their timeout.
   */
  renew(): void;
}

export type StartResult =
  /** The runtime is ready, or its start failed; the next call reports the failure. */
  'settled' | 'stopped' | 'interrupted';

export interface RuntimeRequest {
  readonly envelope: Envelope;
  /** Counts from the moment when the runtime starts the call. */
  readonly timeoutMs: number;
  /**
   * The call must not start later than this, in milliseconds since 1970. If it has to wait that long for its turn, it
   * ends as an `interrupted` call that is `isUnstarted`. Default: it may start at any time.
   */
  readonly startByMs?: number;
  /** Called when the runtime starts a call that had to wait for its turn. Must not throw. */
  readonly onStart?: () => void;
  /** Called for each progress update of the handler, while the call runs. Must not throw. */
  readonly onProgress?: (progress: HandlerProgress) => void;
}
