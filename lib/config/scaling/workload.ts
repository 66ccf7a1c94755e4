/** The load for which limits and costs are computed. */
export interface Workload {
  /** Envelopes that enter the mesh at the busiest time of a normal day. Bursts may be higher: then envelopes wait. */
  readonly ratePerSecond: number;
  /** How long a call of an actor's handler takes. */
  readonly callMs: (actor: string) => number;
  /** Size of an envelope as a message. */
  readonly envelopeBytes: number;
  /** Share of the envelopes that fail finally, from 0 to 1. */
  readonly failedShare: number;
  /** Share of the envelopes that the gateway tracks as tasks, from 0 to 1. */
  readonly trackedShare: number;
  /** Callers of the gateway, with about the same number of tasks each. */
  readonly callers: number;
}

export const DEFAULT_CALL_MS = 100;

export const DEFAULT_WORKLOAD: Workload = {
  ratePerSecond: 100,
  callMs: () => DEFAULT_CALL_MS,
  envelopeBytes: 2_048,
  failedShare: 0.001,
  trackedShare: 0,
  callers: 1,
};
