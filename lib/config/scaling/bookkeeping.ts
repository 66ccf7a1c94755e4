/**
 * What the mesh does besides calling handlers, at full load. `npm run bench -- cost` counts the requests on a local mesh;
 * the times are for arm64 functions of the planned memory.
 */

/** An invocation besides its calls: decode, decide, send, metrics. */
export const SIDECAR_MS = 5;
/** How long a send waits for others that can share its request. */
export const SEND_LINGER_MS = 4;
/** A batch of x-sink, x-sump or x-dlq: one object and its records. */
export const CREW_MS = 60;
/** The lines that Lambda and the sidecar write for an invocation: start, report and metrics, as CloudWatch counts them. */
export const LOG_BYTES = { perInvocation: 2_500, perRecord: 50 } as const;
/** Metrics of one function with all their dimensions. */
export const METRICS_PER_FUNCTION = 10;

/** Write units per ended envelope, of the table and of each of the indexes that contain the first end of an envelope. */
export const END_RECORD = { writes: 1, indexes: ['by-time'] } as const;
/** The same for a failure. */
export const FAILURE_ENTRY = { writes: 1, indexes: ['by-time', 'by-group', 'by-envelope'] } as const;
/** The same for each change of a task: its creation, its end, and each call that is long enough to be reported. */
export const TASK_CHANGE = { writes: 1, indexes: ['by-owner'] } as const;
/** A call that takes this long is reported on its own. */
export const REPORTED_CALL_MS = 1_000;
/** Read units per task: the share of the search for overdue ones. */
export const TASK_READS = 0.1;

/** How long the gateway needs to accept a call, or to store the reports of an invocation. */
export const GATEWAY_MS = 20;
/** The envelopes in a batch of x-sink that succeeded and are not larger share an object. Each other one has its own. */
export const SHARED_OBJECT_BYTES = 65_536;
/** Long polls of an idle queue: five pollers, of twenty seconds each. */
export const IDLE_POLLS_PER_SECOND = 5 / 20;
