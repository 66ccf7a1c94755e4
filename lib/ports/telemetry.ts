import type { Fact } from '../core/delivery/plan.ts';

/** Where facts go: logs and metrics. Telling never fails and never waits. */
export interface Telemetry {
  /** Deliveries came, after a wait of so long. */
  received(count: number, waitedMs: number): void;
  /** Work on a delivery begins. */
  began(): void;
  /** Work on a delivery is over. */
  ended(report: DeliveryReport): void;
  /** Something outside failed, and somebody may want to know. */
  warn(what: string, details: Details): void;
  /** One operation, for whoever looks closely. */
  step(what: string, details: Details): void;
}

export type Details = Readonly<Record<string, string | number | boolean | undefined>>;

/** One delivery, told after its sends were accepted or refused. Never the payload. */
export interface DeliveryReport {
  readonly envelopeId: string;
  readonly attempt: number;
  readonly settle: 'ack' | 'release';
  readonly facts: readonly Fact[];
  /** Why it failed or was refused, in words. */
  readonly problem?: string;
  readonly receivedBytes: number;
  readonly sentBytes: readonly number[];
  readonly processingMs: number;
  /** Undefined where the runtime was not called. */
  readonly runtimeMs?: number;
  readonly sendMs: number;
}
