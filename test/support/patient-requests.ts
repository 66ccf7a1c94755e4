import { beforeEach, vi } from 'vitest';

/**
 * For each test of the file, or of the group it is called in: a request made with `AbortSignal.timeout` is waited for as
 * long as it takes. The second or two that a request may take is no subject of theirs, and a machine may pause for longer.
 */
export function patientRequests(): void {
  beforeEach(() => {
    const limit = vi.spyOn(AbortSignal, 'timeout').mockImplementation(() => new AbortController().signal);
    return () => limit.mockRestore();
  });
}
