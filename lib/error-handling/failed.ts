import type { Fault } from '../core/envelope/fault.ts';
import type { PipelineAction } from '../core/pipeline/pipeline.ts';

/** What was decided, and whether it could be done: `ack` only after the publishing, where there is any, was accepted. */
export type Failed = PipelineAction & {
  readonly settle: 'ack' | 'nack';
  readonly fault: Fault;
  /** Retries made before this failure. */
  readonly retryCount: number;
  readonly ageMs: number;
  /** Why it was not published. */
  readonly problem?: string;
};
