/** Decides how many calls a runtime may hold before their turn, so that it never waits for the next one. */
export interface LookAhead {
  readonly count: number;
  /** A call has ended after this time. */
  ended(callMs: number): void;
  /** The handler's process has printed a line during a call. */
  printed(): void;
}

/** Calls that wait longer than this gain nothing: the way to the runtime takes a fraction of a millisecond. */
const MAX_WAIT_MS = 100;
const MAX_COUNT = 16;
const SHORTEST_CALL_MS = 0.1;
/** After a slow call, the estimate comes down slowly: by this share of the difference with each fast one. */
const SPEED = 0.2;
/** A line belongs to a call only if no other call is in the runtime. So a handler that prints gets one at a time. */
const QUIET_CALLS = 32;

export function lookAhead(): LookAhead {
  /** How long the next call is expected to take. Unknown before the first one. */
  let expectedMs = Number.POSITIVE_INFINITY;
  let quietCalls = QUIET_CALLS;
  return {
    get count() {
      if (quietCalls < QUIET_CALLS) return 0;
      return Math.min(MAX_COUNT, Math.floor(MAX_WAIT_MS / Math.max(expectedMs, SHORTEST_CALL_MS)));
    },
    ended: (callMs) => {
      const isFirst = expectedMs === Number.POSITIVE_INFINITY;
      expectedMs = isFirst ? callMs : Math.max(callMs, expectedMs + (callMs - expectedMs) * SPEED);
      quietCalls++;
    },
    printed: () => {
      quietCalls = 0;
    },
  };
}
