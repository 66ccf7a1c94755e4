import type { Fact } from '../core/delivery/plan.ts';

/** Receives what happens, for logs and metrics. Its methods return at once and never throw. */
export interface Telemetry {
  /** A receive returned this many deliveries after waiting this long. */
  received(count: number, waitedMs: number): void;
  /** Processing of a delivery begins. */
  began(): void;
  /** Processing of a delivery ended. */
  ended(report: DeliveryReport): void;
  /** An outside system failed, or a configuration needs attention. */
  warn(what: string, details: Details): void;
  /** A handler reported its progress. Throttled: not every update is reported. Absent if nothing records it. */
  progress?(progress: ReportedProgress): void;
  /** One operation, for debugging. */
  step(what: string, details: Details): void;
}

export type Details = Readonly<Record<string, string | number | boolean | undefined>>;

/** A handler's progress without its data, which may be part of a payload. */
export interface ReportedProgress {
  readonly envelopeId: string;
  readonly percent?: number;
  readonly message?: string;
}

/** One processed delivery, reported after its sends were accepted or refused. Never contains a payload. */
export interface DeliveryReport {
  readonly envelopeId: string;
  readonly attempt: number;
  /** Whether the delivery was acknowledged, or released to be delivered again. */
  readonly settle: 'ack' | 'release';
  readonly facts: readonly Fact[];
  /** Why the delivery failed or a send was refused. */
  readonly problem?: string;
  readonly receivedBytes: number;
  /** Size of each body that was sent. */
  readonly sentBytes: readonly number[];
  readonly processingMs: number;
  /** Undefined if the runtime was not called. */
  readonly runtimeMs?: number;
  readonly sendMs: number;
}
