import { systemClock } from '../../adapters/system/system.ts';
import { semaphore } from '../../async/semaphore.ts';
import { untilAborted } from '../../async/until-aborted.ts';
import { defined } from '../../core/text/defined.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Attachment } from '../debugger/attachment.ts';
import { type FunctionIdentity, functionEnvironment } from './function-environment.ts';
import { type FunctionProcess, startFunction } from './function-process.ts';
import type { Invoke } from './invocation.ts';

/** A function as on Lambda: instances are started on demand, reused, and replaced when they exit. */
export interface FunctionPool {
  /** Waits while all instances are busy. Fails immediately while the function cannot be loaded. */
  readonly invoke: Invoke;
  /** Starts an instance before its first invocation. Returns the problem if it cannot be loaded. */
  start(): Promise<string | undefined>;
  /** Resolves immediately, or, if the last start failed, when a start has succeeded or the signal aborts. */
  untilUsable(signal: AbortSignal): Promise<void>;
  /** Uses new instances from now on. Busy instances finish their invocation first. */
  renew(): void;
  pids(): readonly number[];
  /** Resolves when all instances have ended. Instances that do not exit within the grace period are killed. */
  close(graceMs: number): Promise<void>;
}

export interface FunctionPoolOptions extends FunctionIdentity {
  /** A module that exports `handler`, such as `functions/sidecar/index.ts`. */
  readonly file: string;
  /** Maximum number of instances at the same time. */
  readonly maxInstances: number;
  readonly timeoutMs: number;
  /**
   * Working directory of the instances.
   * @default that of this process
   */
  readonly cwd?: string;
  /** Variables of an instance by its unique number. Use the number in names that must not be shared, such as sockets. */
  readonly variables: (instance: number) => Readonly<Record<string, string>>;
  readonly onLine: (functionName: string, stream: 'stdout' | 'stderr', line: string) => void;
  readonly onWarning: (text: string) => void;
  /**
   * Idle instances end after this time, except the last one.
   * @default 5 minutes
   */
  readonly idleMs?: number;
  readonly clock?: Clock;
  /** Whether a debugger is attached to the handler. Default: never. */
  readonly attachment?: Attachment;
}

const FIRST_PAUSE_MS = 1_000;
const MAX_PAUSE_MS = 30_000;
const IDLE_MS = 300_000;
const RETIRED_WITHIN_MS = 2_000;

export function functionPool(options: FunctionPoolOptions): FunctionPool {
  const {
    name,
    file,
    maxInstances,
    timeoutMs,
    onLine,
    onWarning,
    clock = systemClock,
    idleMs = IDLE_MS,
  } = options;
  const slots = semaphore(maxInstances);
  const instances = new Set<FunctionProcess>();
  /** Idle instances with the timers that end them. The most recently used one is used next. */
  const idle = new Map<FunctionProcess, NodeJS.Timeout>();
  const closing = new AbortController();
  let current = new WeakSet<FunctionProcess>();
  let renewal = new AbortController();
  let started = 0;
  let recovery: Promise<void> | undefined;
  let problem: string | undefined;

  async function load(): Promise<FunctionProcess | undefined> {
    const env = functionEnvironment(options, options.variables(++started), process.env);
    const instance = startFunction({
      file,
      env,
      onLine: (stream, line) => onLine(name, stream, line),
      ...defined({ cwd: options.cwd, attachment: options.attachment }),
    });
    instances.add(instance);
    current.add(instance);
    instance.exited.then((how) => {
      instances.delete(instance);
      if (takeIdle(instance) && !closing.signal.aborted)
        onWarning(`an idle process of function "${name}" ${how}; the next invocation starts a new one`);
    });
    const found = await instance.ready;
    if (found !== undefined && !closing.signal.aborted) noteProblem(found);
    return found === undefined ? instance : undefined;
  }

  function noteProblem(found: string): void {
    if (found !== problem)
      onWarning(
        `cannot load function "${name}" from ${file}: ${found}; fix the problem; loading is retried automatically`,
      );
    problem = found;
    recovery ??= recover();
  }

  async function recover(): Promise<void> {
    for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(pauseMs * 2, MAX_PAUSE_MS)) {
      await clock.sleep(pauseMs, AbortSignal.any([closing.signal, renewal.signal]));
      await slots.acquire();
      const instance = closing.signal.aborted ? undefined : await load();
      if (instance !== undefined) putBack(instance);
      slots.release();
      if (instance === undefined && !closing.signal.aborted) continue;
      problem = undefined;
      recovery = undefined;
      return;
    }
  }

  function takeIdle(instance: FunctionProcess): boolean {
    clearTimeout(idle.get(instance));
    return idle.delete(instance);
  }

  function putBack(instance: FunctionProcess): void {
    if (!instance.isAlive()) return;
    if (closing.signal.aborted || !current.has(instance)) {
      retire(instance);
      return;
    }
    const timer = setTimeout(() => {
      if (idle.size > 1 && takeIdle(instance)) retire(instance);
    }, idleMs);
    idle.set(instance, timer.unref());
  }

  function retire(instance: FunctionProcess): void {
    void instance.stop(RETIRED_WITHIN_MS);
  }

  async function anInstance(): Promise<FunctionProcess | undefined> {
    const lastUsed = [...idle.keys()].reverse().find((instance) => takeIdle(instance) && instance.isAlive());
    return lastUsed ?? (recovery === undefined ? await load() : undefined);
  }

  async function invoke(event: unknown): ReturnType<Invoke> {
    await slots.acquire();
    try {
      if (closing.signal.aborted) return { ok: false, problem: 'the function is shutting down' };
      const instance = await anInstance();
      if (instance === undefined) return { ok: false, problem: problem ?? 'the function is shutting down' };
      const end = await instance.invoke(event, timeoutMs);
      putBack(instance);
      return end;
    } finally {
      slots.release();
    }
  }

  return {
    invoke,
    start: async () => {
      await slots.acquire();
      const instance = await anInstance();
      if (instance !== undefined) putBack(instance);
      slots.release();
      return instance === undefined ? problem : undefined;
    },
    untilUsable: async (signal) => {
      while (recovery !== undefined && !signal.aborted) await Promise.race([recovery, untilAborted(signal)]);
    },
    renew: () => {
      current = new WeakSet();
      for (const instance of [...idle.keys()]) if (takeIdle(instance)) retire(instance);
      renewal.abort();
      renewal = new AbortController();
    },
    pids: () => [...instances].map(({ pid }) => pid),
    close: async (graceMs) => {
      closing.abort();
      for (const instance of [...idle.keys()]) takeIdle(instance);
      await Promise.all([...instances].map((instance) => instance.stop(graceMs)));
      await recovery;
    },
  };
}
