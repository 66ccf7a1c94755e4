import type { CallEnd } from '../../core/delivery/outcome.ts';
import type { JsonText } from '../../core/text/json-text.ts';
import type { Runtime } from '../../ports/runtime.ts';

/** How the calls of one actor go: failures in their order, then success. */
export interface Script {
  readonly failures: readonly ScriptedFailure[];
  /** How long each call takes. */
  readonly takesMs: number;
}

export interface ScriptedFailure {
  /** So many calls in a row; `Infinity`: all that follow. */
  readonly times: number;
  /** `timeout`: hangs until its time is over. */
  readonly end: CallEnd;
}

export const ALL_WELL: Script = { failures: [], takesMs: 0 };

/** Does what the script says and takes as long; a value passes on as it came. */
export function scriptedRuntime(
  { failures, takesMs }: Script,
  sleep: (milliseconds: number) => Promise<void>,
): Runtime {
  let calls = 0;
  const nextEnd = (payload: JsonText): CallEnd => {
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
      const told = nextEnd(envelope.payload);
      const end: CallEnd = takesMs > timeoutMs ? { kind: 'timeout' } : told;
      await sleep(end.kind === 'timeout' ? timeoutMs : takesMs);
      return end;
    },
    interrupt: () => {},
    problem: () => Promise.resolve(undefined),
    close: () => Promise.resolve(),
  };
}
