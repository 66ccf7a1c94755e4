import type { Fault } from '../core/envelope/fault.ts';
import type { PipelineAction } from '../core/pipeline/pipeline.ts';

/** The decision and its result. `settle` is `ack` only after the broker accepted the message that had to be published. */
export type Failed = PipelineAction & {
  readonly settle: 'ack' | 'nack';
  readonly fault: Fault;
  /** Number of retries before this failure. */
  readonly retryCount: number;
  readonly ageMs: number;
  /** Why publishing failed. */
  readonly problem?: string;
};
