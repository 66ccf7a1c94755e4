import { beforeEach, vi } from 'vitest';

/**
 * Disables `AbortSignal.timeout` in every test of the file or group that calls it. Their requests time out after a second
 * or two, and a busy machine may pause for longer.
 */
export function withoutRequestTimeouts(): void {
  beforeEach(() => {
    const timeout = vi.spyOn(AbortSignal, 'timeout').mockImplementation(() => new AbortController().signal);
    return () => timeout.mockRestore();
  });
}
