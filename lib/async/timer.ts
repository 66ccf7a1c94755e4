/** Node fires a timer that is set for longer at once. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/** Calls back after any duration, in pieces if it is longer than one timer can be. Returns how to cancel it. */
export function startTimer(milliseconds: number, onDue: () => void): () => void {
  let timer: NodeJS.Timeout;
  const wait = (leftMs: number) => {
    const pieceMs = Math.min(leftMs, MAX_TIMER_MS);
    timer = setTimeout(() => (leftMs > pieceMs ? wait(leftMs - pieceMs) : onDue()), pieceMs);
  };
  wait(milliseconds);
  return () => clearTimeout(timer);
}
