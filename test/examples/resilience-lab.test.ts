import { afterEach, describe, expect, it, vi } from 'vitest';
import * as fates from '../../examples/resilience-lab/fates.ts';

describe("resilience-lab's handlers", () => {
  it('fail and succeed by the attempt that they are told', () => {
    expect(() => fates.failsTwice({}, { attempt: 1 })).toThrow('attempt 1');
    expect(() => fates.failsTwice({}, { attempt: 2 })).toThrow('attempt 2');
    expect(fates.failsTwice({ n: 1 }, { attempt: 3 })).toEqual({ n: 1, attempt: 3 });
    expect(fates.runtimeCrashes({ n: 1 }, { attempt: 2 })).toEqual({ n: 1, attempt: 2 });
  });

  it('are given a context where they ask for a second argument', () => {
    expect([fates.failsTwice.length, fates.runtimeCrashes.length]).toEqual([2, 2]);
  });

  it('take a payload once it is mended, as a replay with a patch does', () => {
    expect(() => fates.isNotRetryable({})).toThrow('never do');
    expect(fates.isNotRetryable({ isMended: true })).toEqual({ isMended: true });
  });

  it('give values, lists and nothing', () => {
    expect(fates.succeeds({ n: 1 })).toEqual({ n: 1, isDone: true });
    expect(fates.rescue({ n: 1 })).toEqual({ n: 1, isRescued: true });
    expect(fates.fansOut()).toHaveLength(3);
    expect(fates.returnsNothing()).toBeUndefined();
  });
});

describe('the handler that kills its function', () => {
  afterEach(() => {
    vi.unstubAllEnvs();
    vi.restoreAllMocks();
  });

  it.each([
    ['elsewhere', undefined, undefined],
    ['in another function', 'succeeds', String(process.ppid)],
    ['where the function did not say who it is', 'kills-its-function', undefined],
    ['where the function is not its parent', 'kills-its-function', '1'],
  ])('kills nothing %s', (_title, name, pid) => {
    const kill = vi.spyOn(process, 'kill').mockReturnValue(true);
    vi.stubEnv('AWS_LAMBDA_FUNCTION_NAME', name);
    vi.stubEnv('FUNCTION_PID', process.ppid === 1 && pid === '1' ? '2' : pid);
    expect(() => fates.killsItsFunction()).toThrow('nothing is killed');
    expect(kill).not.toHaveBeenCalled();
  });

  it('kills its own parent there, and waits for its end', () => {
    const kill = vi.spyOn(process, 'kill').mockReturnValue(true);
    vi.stubEnv('AWS_LAMBDA_FUNCTION_NAME', 'kills-its-function');
    vi.stubEnv('FUNCTION_PID', String(process.ppid));
    void fates.killsItsFunction();
    expect(kill.mock.calls).toEqual([[process.ppid, 'SIGKILL']]);
  });
});
