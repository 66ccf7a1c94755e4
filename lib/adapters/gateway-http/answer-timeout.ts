import { afterReads } from '../../async/after-reads.ts';

/**
 * Aborts when a request's answer is late. Lambda freezes the process between invocations: when it continues, the time is
 * over, but the answer may be there already. It is read before the signal aborts.
 */
export function answerTimeout(milliseconds: number): AbortSignal {
  const ending = new AbortController();
  const over = AbortSignal.timeout(milliseconds);
  over.addEventListener(
    'abort',
    afterReads(() => ending.abort(over.reason)),
    { once: true },
  );
  return ending.signal;
}
