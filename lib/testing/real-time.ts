/** Taken before a test installs fake timers, which would never end the wait. */
const { setTimeout: startTimer, clearTimeout: stopTimer } = globalThis;

/** How long a call may take in real time if the test sets no other limit. */
export const REAL_TIMEOUT_MS = 10_000;

/** Rejects if the promise does not settle in time. The timer also keeps the process alive while a handler hangs. */
export async function withinRealTime<T>(promise: Promise<T>, limitMs: number, what: string): Promise<T> {
  let timer: ReturnType<typeof startTimer> | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = startTimer(
      () =>
        reject(
          new Error(
            `${what} did not end within ${limitMs} ms of real time; let it end, or raise realTimeoutMs. ` +
              "To test a timeout of the mesh, use runFlow with fail: 'ACTOR:timeout', which does not wait",
          ),
        ),
      limitMs,
    );
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    stopTimer(timer);
  }
}
