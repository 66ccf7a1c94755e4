import type { CallEnd } from '../core/delivery/outcome.ts';
import type { Envelope } from '../core/envelope/envelope.ts';

/** Whatever holds the user's handler. */
export interface Runtime {
  /** Whether a runtime that hung is killed and started afresh; where not, the host has to end. */
  readonly restartsItself: boolean;
  /**
   * One call, over in at most its timeout: everything a runtime can do wrong is a way to end. On `timeout` the
   * runtime is no longer to be trusted, and who started it has it killed and started afresh before the next call.
   */
  call(request: RuntimeRequest): Promise<CallEnd>;
  /** Ends every call and every wait for a start as interrupted. */
  interrupt(): void;
  /**
   * Resolves when there is a runtime to call, or when told to stop. Without it the runtime is somebody else's to start,
   * and a call finds out.
   */
  untilReady?(stop: AbortSignal): Promise<void>;
  /** Whether the runtime is loading, and is worth waiting for: that does not count towards a call's timeout. */
  isStarting?(): boolean;
  /** Resolves when the runtime is ready or its start has failed, when `stop` aborts, or when it is interrupted. */
  untilStarted?(stop: AbortSignal): Promise<StartEnd>;
  /** Undefined: ready for calls. Otherwise, what is wrong. */
  problem(): Promise<string | undefined>;
  /** A runtime that was started here gets so long to end, then it is killed. */
  close(withinMs?: number): Promise<void>;
}

export type StartEnd =
  /** It is ready, or its start failed, which a call reports. */
  'settled' | 'stopped' | 'interrupted';

export interface RuntimeRequest {
  readonly envelope: Envelope;
  readonly timeoutMs: number;
}
