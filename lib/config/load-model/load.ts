import type { ScaledMesh } from '../scaling/mesh-demand.ts';
import type { Usage } from '../scaling/prices.ts';
import { EVENT_SOURCE } from '../scaling/quotas.ts';
import type { Workload } from '../scaling/workload.ts';

/** A mesh, what enters it, and what fails. Times are milliseconds since the start. */
export interface Load {
  readonly mesh: ScaledMesh;
  readonly workload: Workload;
  /** Envelopes per second that enter the mesh at this time. */
  readonly arrivals: (atMs: number) => number;
  readonly outages: readonly Outage[];
  readonly durationMs: number;
  /** The model advances by this time at once. */
  readonly stepMs: number;
  /** Length of a sample of the result. */
  readonly sampleMs: number;
  readonly host: Host;
}

/** What runs the functions. */
export interface Host {
  /** Invocations of an event source right after its first messages. */
  readonly start: number;
  /** Added while messages are waiting. */
  readonly addedPerMinute: number;
  /** Receives that wait for messages at the same time while few arrive. */
  readonly pollers: number;
  /** Concurrent executions of all functions. */
  readonly executions: number;
}

export function lambdaHost(executions: number): Host {
  return {
    start: EVENT_SOURCE.start,
    addedPerMinute: EVENT_SOURCE.addedPerMinute,
    pollers: EVENT_SOURCE.start,
    executions,
  };
}

/** In `Outage.of`: the bucket and the table. */
export const STORES = 'stores';

interface Outage {
  /** The actor whose calls all fail, or `STORES`. */
  readonly of: string;
  readonly fromMs: number;
  readonly untilMs: number;
}

export interface LoadResult {
  readonly samples: readonly LoadSample[];
  /** The whole time as one sample. */
  readonly total: LoadSample;
  /** Envelopes that have ended by the end of the load. */
  readonly succeeded: number;
  readonly failed: number;
  readonly usage: Usage;
}

export interface LoadSample {
  readonly fromMs: number;
  readonly entered: number;
  /** By actor, in the order of the plan. */
  readonly functions: ReadonlyMap<string, FunctionSample>;
}

/** The largest values within a sample, except for the sums. */
export interface FunctionSample {
  /** Messages in the queue, visible and delayed. */
  readonly backlog: number;
  readonly backlogAtMs: number;
  /** Age of the oldest visible message. */
  readonly oldestMs: number;
  /** Concurrent invocations. */
  readonly copies: number;
  /** Sum: invocations. */
  readonly invocations: number;
  /** Sum: deliveries. */
  readonly deliveries: number;
}
