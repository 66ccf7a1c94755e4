/** A signal that follows others until it is disposed. */
export interface LinkedSignal {
  readonly signal: AbortSignal;
  /** Stops its timers and removes its listeners. */
  dispose(): void;
}

export interface LinkedSignalOptions {
  /** How long after one of the sources it aborts. A source that is already aborted aborts it at once. @default 0 */
  readonly delayMs?: number;
  /** Aborts after this time in any case. @default never */
  readonly timeoutMs?: number;
}

/** Aborts when any of the sources does. Unlike `AbortSignal.any`, it leaves nothing behind on sources that live long. */
export function linkedSignal(
  sources: readonly AbortSignal[],
  { delayMs = 0, timeoutMs }: LinkedSignalOptions = {},
): LinkedSignal {
  const linked = new AbortController();
  const timers: NodeJS.Timeout[] = [];
  const abort = () => linked.abort();
  const onAbort = delayMs === 0 ? abort : () => timers.push(setTimeout(abort, delayMs));
  if (timeoutMs !== undefined) timers.push(setTimeout(abort, timeoutMs));
  for (const source of sources) {
    if (source.aborted) abort();
    source.addEventListener('abort', onAbort, { once: true });
  }
  return {
    signal: linked.signal,
    dispose: () => {
      for (const timer of timers) clearTimeout(timer);
      for (const source of sources) source.removeEventListener('abort', onAbort);
    },
  };
}
