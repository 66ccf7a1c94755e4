/**
 * For the callback of a timer: runs it after what has arrived on sockets was read. Timers run first, so a process that was
 * suspended or busy would end a wait although its answer is there already.
 */
export function afterReads(onDue: () => void): () => void {
  return () => {
    setImmediate(onDue);
  };
}
