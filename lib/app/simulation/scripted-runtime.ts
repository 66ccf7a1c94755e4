import type { CallResult } from '../../core/delivery/outcome.ts';
import type { JsonText } from '../../core/text/json-text.ts';
import type { Runtime } from '../../ports/runtime.ts';

/** How the calls of one actor end: the failures in order, then success. */
export interface Script {
  readonly failures: readonly ScriptedFailure[];
  /** How long each call takes. */
  readonly takesMs: number;
}

export interface ScriptedFailure {
  /** How many calls in a row fail like this. `Infinity`: all that follow. */
  readonly times: number;
  /** `timeout`: the call hangs until its timeout. */
  readonly end: CallResult;
}

export const ALWAYS_SUCCEEDS: Script = { failures: [], takesMs: 0 };

/** Ends calls as the script defines and takes as long. A successful call returns the payload unchanged. */
export function scriptedRuntime(
  { failures, takesMs }: Script,
  sleep: (milliseconds: number) => Promise<void>,
): Runtime {
  let calls = 0;
  const nextEnd = (payload: JsonText): CallResult => {
    let nth = calls++;
    for (const { times, end } of failures) {
      if (nth < times) return end;
      nth -= times;
    }
    return { kind: 'frames', frames: [{ payload }] };
  };
  return {
    restartsItself: true,
    call: async ({ envelope, timeoutMs }) => {
      const scripted = nextEnd(envelope.payload);
      const end: CallResult = takesMs > timeoutMs ? { kind: 'timeout' } : scripted;
      await sleep(end.kind === 'timeout' ? timeoutMs : takesMs);
      return end;
    },
    interrupt: () => {},
    problem: () => Promise.resolve(undefined),
    close: () => Promise.resolve(),
  };
}
