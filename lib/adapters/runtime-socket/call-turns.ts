/** A call that may have to wait for its turn. */
export interface Turn {
  /** It must not start later than this. Undefined: it may start at any time. */
  readonly startByMs: number | undefined;
}

/** The order in which the calls of one process run. */
export interface CallTurns<Call extends Turn> {
  add(call: Call): void;
  /** The call has ended, so that the next one starts. */
  ended(call: Call): void;
  /** Ends the wait of calls that were not sent. */
  expireWaiting(): void;
  /** Nothing starts any more. Returns the calls that have not ended. */
  stop(): Call[];
  /** The calls that have not ended, in order. */
  all(): Call[];
}

interface Actions<Call> {
  /** Sends the call to the process. `startByMs` is set if it has to wait there. */
  readonly send: (call: Call, startByMs?: number) => void;
  /** The process starts the call. `hasWaited`: it was sent ahead. */
  readonly start: (call: Call, hasWaited: boolean) => void;
  /** The call cannot start in time. */
  readonly expire: (call: Call) => void;
  readonly now: () => number;
}

/** A call that has less time than this is not sent ahead. */
const MIN_AHEAD_MS = 100;

/**
 * At most `concurrency` calls run at the same time, and they start in the order in which they were added. A call that cannot
 * start at once is sent ahead, so that the process starts it by itself. It is kept here instead if it has to start very
 * soon, because its process would have to reject it if the calls before it take longer.
 */
export function callTurns<Call extends Turn>(
  concurrency: number,
  { send, start, expire, now }: Actions<Call>,
): CallTurns<Call> {
  const running = new Set<Call>();
  /** Sent ahead. */
  let ahead: Call[] = [];
  /** Not sent. */
  const waiting: Call[] = [];
  let isStopped = false;

  const isFree = () => !isStopped && running.size < concurrency;

  function run(call: Call, hasWaited: boolean): void {
    running.add(call);
    start(call, hasWaited);
  }

  /** The first of these calls, if it may run now. */
  function take(calls: Call[]): Call | undefined {
    return isFree() ? calls.shift() : undefined;
  }

  function startNext(): void {
    for (let next = take(ahead); next !== undefined; next = take(ahead)) run(next, true);
    for (let next = take(waiting); next !== undefined; next = take(waiting)) {
      if (next.startByMs !== undefined && next.startByMs < now()) {
        expire(next);
        continue;
      }
      send(next);
      run(next, true);
    }
  }

  return {
    add: (call) => {
      const { startByMs = Number.POSITIVE_INFINITY } = call;
      if (isFree() && ahead.length === 0 && waiting.length === 0) {
        send(call);
        run(call, false);
      } else if (waiting.length === 0 && !isStopped && startByMs - now() >= MIN_AHEAD_MS) {
        send(call, call.startByMs);
        ahead.push(call);
      } else waiting.push(call);
    },
    ended: (call) => {
      running.delete(call);
      ahead = ahead.filter((one) => one !== call);
      startNext();
    },
    expireWaiting: () => {
      for (const call of waiting.splice(0)) expire(call);
    },
    stop: () => {
      isStopped = true;
      return [...running, ...ahead, ...waiting];
    },
    all: () => [...running, ...ahead, ...waiting],
  };
}
