import type { Clock } from '../../lib/ports/clock.ts';
import type { Progress } from '../../lib/ports/reports.ts';

/** `noteAfter` of a fake, on a clock of the test. */
export function noteAfterOn(clock: Clock, note: Progress['note']): Progress['noteAfter'] {
  return (milliseconds, report) => {
    const over = new AbortController();
    void clock.sleep(milliseconds, over.signal).then(() => {
      const made = over.signal.aborted ? undefined : report();
      if (made !== undefined) void note(made);
    });
    return () => over.abort();
  };
}
