import { afterEach, describe, expect, it, vi } from 'vitest';
import * as handlers from '../../examples/resilience-lab/outcomes.ts';

describe("resilience-lab's handlers", () => {
  it('fail or succeed depending on the attempt', () => {
    expect(() => handlers.failsTwice({}, { attempt: 1 })).toThrow('attempt 1');
    expect(() => handlers.failsTwice({}, { attempt: 2 })).toThrow('attempt 2');
    expect(handlers.failsTwice({ n: 1 }, { attempt: 3 })).toEqual({ n: 1, attempt: 3 });
    expect(handlers.runtimeCrashes({ n: 1 }, { attempt: 2 })).toEqual({ n: 1, attempt: 2 });
  });

  it('receive a context if they have a second parameter', () => {
    expect([handlers.failsTwice.length, handlers.runtimeCrashes.length]).toEqual([2, 2]);
  });

  it('accept a fixed payload, as in a replay with a patch', () => {
    expect(() => handlers.isNotRetryable({})).toThrow('not valid');
    expect(handlers.isNotRetryable({ isFixed: true })).toEqual({ isFixed: true });
  });

  it('return values, lists or nothing', () => {
    expect(handlers.succeeds({ n: 1 })).toEqual({ n: 1, isDone: true });
    expect(handlers.rescue({ n: 1 })).toEqual({ n: 1, isRescued: true });
    expect(handlers.fansOut()).toHaveLength(3);
    expect(handlers.returnsNothing()).toBeUndefined();
  });
});

describe('killsItsFunction', () => {
  afterEach(() => {
    vi.unstubAllEnvs();
    vi.restoreAllMocks();
  });

  it.each([
    ['outside a mesh', undefined, undefined],
    ['in another function', 'succeeds', String(process.ppid)],
    ['without FUNCTION_PID', 'kills-its-function', undefined],
    ['if FUNCTION_PID is not its parent', 'kills-its-function', '1'],
  ])('kills nothing %s', (_title, name, pid) => {
    const kill = vi.spyOn(process, 'kill').mockReturnValue(true);
    vi.stubEnv('AWS_LAMBDA_FUNCTION_NAME', name);
    vi.stubEnv('FUNCTION_PID', process.ppid === 1 && pid === '1' ? '2' : pid);
    expect(() => handlers.killsItsFunction()).toThrow('nothing is killed');
    expect(kill).not.toHaveBeenCalled();
  });

  it('kills its parent process', () => {
    const kill = vi.spyOn(process, 'kill').mockReturnValue(true);
    vi.stubEnv('AWS_LAMBDA_FUNCTION_NAME', 'kills-its-function');
    vi.stubEnv('FUNCTION_PID', String(process.ppid));
    void handlers.killsItsFunction();
    expect(kill.mock.calls).toEqual([[process.ppid, 'SIGKILL']]);
  });
});
