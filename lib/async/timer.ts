/** Node runs a timer at once if its delay is longer than this. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/** Calls back after any duration, with several timers if it is longer than one can be. Returns a function that cancels it. */
export function startTimer(milliseconds: number, onDue: () => void): () => void {
  let timer: NodeJS.Timeout;
  const wait = (leftMs: number) => {
    const pieceMs = Math.min(leftMs, MAX_TIMER_MS);
    timer = setTimeout(() => (leftMs > pieceMs ? wait(leftMs - pieceMs) : onDue()), pieceMs);
  };
  wait(milliseconds);
  return () => clearTimeout(timer);
}
