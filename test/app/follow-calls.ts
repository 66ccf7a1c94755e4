import type { Clock } from '../../lib/ports/clock.ts';
import type { Progress } from '../../lib/ports/reports.ts';

/** `follow` of a fake, on a clock of the test: reports after a second, and asks for nothing. */
export function followOn(clock: Clock, note: Progress['note']): Progress['follow'] {
  return (report) => {
    const over = new AbortController();
    void clock.sleep(1_000, over.signal).then(() => {
      const made = over.signal.aborted ? undefined : report();
      if (made !== undefined) void note(made);
    });
    return () => over.abort();
  };
}
