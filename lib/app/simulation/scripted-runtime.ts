import type { CallResult } from '../../core/delivery/outcome.ts';
import type { Runtime, RuntimeRequest } from '../../ports/runtime.ts';

/** How the calls of one actor end: the failures in order, then answers. */
export interface Script {
  readonly failures: readonly ScriptedFailure[];
  /** How long each call takes. */
  readonly takesMs: number;
  /**
   * Answers a call that does not fail, in no time: `takesMs` passes afterwards. Not called if the call takes longer than
   * its timeout. Default: returns the payload unchanged.
   */
  readonly answer?: (request: RuntimeRequest) => Promise<CallResult>;
}

export interface ScriptedFailure {
  /** How many calls in a row fail like this. `Infinity`: all that follow. */
  readonly times: number;
  /** `timeout`: the call hangs until its timeout. */
  readonly end: CallResult;
}

export const ALWAYS_SUCCEEDS: Script = { failures: [], takesMs: 0 };

/** The runtime of one actor for one delivery, on the clock of that delivery. */
export type RuntimeOnClock = (sleep: (milliseconds: number) => Promise<void>) => Runtime;

/** Ends calls as the script defines and takes as long. The calls are counted over all deliveries. */
export function scriptedRuntime({ failures, takesMs, answer = unchanged }: Script): RuntimeOnClock {
  let calls = 0;
  const nextFailure = (): CallResult | undefined => {
    let nth = calls++;
    for (const { times, end } of failures) {
      if (nth < times) return end;
      nth -= times;
    }
    return undefined;
  };
  return (sleep) => ({
    restartsItself: true,
    call: async (request) => {
      const { timeoutMs } = request;
      const failure = nextFailure();
      const end: CallResult =
        takesMs > timeoutMs ? { kind: 'timeout' } : (failure ?? (await answer(request)));
      await sleep(end.kind === 'timeout' ? timeoutMs : takesMs);
      return end;
    },
    interrupt: () => {},
    problem: () => Promise.resolve(undefined),
    close: () => Promise.resolve(),
  });
}

async function unchanged({ envelope }: RuntimeRequest): Promise<CallResult> {
  return { kind: 'frames', frames: [{ payload: envelope.payload }] };
}
