import { untilAborted } from '../../async/until-aborted.ts';
import type { CallResult } from '../../core/delivery/outcome.ts';
import { defined } from '../../core/text/defined.ts';
import type { RenewableRuntime, RuntimeRequest, StartResult } from '../../ports/runtime.ts';
import type { Child } from './child.ts';
import { notReadyText } from './exit-text.ts';
import { withExitReason } from './lost-connection.ts';
import { followInstance, type Instance } from './process-instance.ts';
import type { ProcessRuntimeOptions } from './process-options.ts';
import { type SpawnedGroup, spawnGroup } from './spawn-group.ts';

const FIRST_RESTART_PAUSE_MS = 100;
const MAX_RESTART_PAUSE_MS = 30_000;
/** After a process ran this long or answered a call, the pause before a restart is short again. */
const STABLE_AFTER_MS = 60_000;
const NO_ANSWER: readonly CallResult['kind'][] = ['timeout', 'interrupted', 'unreachable'];
const STOP_WITHIN_MS = 5_000;
/** A runtime that the sidecar starts. Restarts it when it ends, and kills it when a call times out. */
export function processRuntime(options: ProcessRuntimeOptions): RenewableRuntime {
  const { client, clock, onWarning } = options;
  /** The envelope id of each call in flight. */
  const inFlight = new Map<object, string>();
  const calls = new Set<Promise<unknown>>();
  const closing = new AbortController();
  let interruption = new AbortController();
  let pauseMs = FIRST_RESTART_PAUSE_MS;
  /** The last instance, if it ended before it was ready. */
  let failedStart: Instance | undefined;
  /** How often the environment has changed. */
  let renewals = 0;
  /** The process that the current instance replaces. It may still finish its calls. */
  let leaving: Child | undefined;
  let current = startInstance(Promise.resolve(options.started));

  function startInstance(after: Promise<SpawnedGroup | undefined>, isReplacement = false): Instance {
    const over = new AbortController();
    const self: Instance = {
      isReady: false,
      isReplacement,
      over,
      settled: after.then((started) => run(self, started)),
    };
    return self;
  }

  /** Starts the process and resolves when it is ready or has ended. */
  async function run(self: Instance, started?: SpawnedGroup): Promise<void> {
    const group = started ?? (await spawn(self.over.signal));
    if (group === undefined) return;
    const child = await followInstance(self, group, { options, inFlight, onExit, onLost: replace });
    if (!self.isReady) return;
    failedStart = undefined;
    options.onReady?.({ pid: child.pid, startedInMs: clock.now() - child.startedAtMs });
  }

  /** Undefined if `over` aborts first. */
  async function spawn(over: AbortSignal): Promise<SpawnedGroup | undefined> {
    const env = await currentEnvironment(over);
    if (env === undefined || over.aborted) return undefined;
    const { command, cwd } = options;
    return spawnGroup({ command, env, ...defined({ cwd }), hasChannel: client.attach !== undefined });
  }

  /** Undefined if `over` aborts first. */
  async function currentEnvironment(over: AbortSignal): Promise<Record<string, string> | undefined> {
    while (!over.aborted) {
      const before = renewals;
      const env = await Promise.race([options.env(), untilAborted(over)]);
      if (before === renewals) return env ?? undefined;
    }
    return undefined;
  }

  function onExit(self: Instance, child: Child, reason: string, ranMs: number): void {
    const { isReady, isLost = false } = self;
    const wasReady = isReady || isLost;
    if (self === current) failedStart = wasReady ? undefined : self;
    self.exitReason ??= reason;
    self.isReady = false;
    self.over.abort();
    if (closing.signal.aborted || (self !== current && !isLost)) return;
    if (ranMs > STABLE_AFTER_MS) pauseMs = FIRST_RESTART_PAUSE_MS;
    self.restartPauseMs = pauseMs;
    onWarning('the runtime ended', {
      reason: self.exitReason,
      pid: child.pid,
      restartInMs: pauseMs,
      ...(wasReady ? {} : { isStarting: true }),
    });
    pauseMs = Math.min(pauseMs * 2, MAX_RESTART_PAUSE_MS);
    if (!isLost) replace(self, child);
  }

  /** Starts the next instance after a pause, once this one has ended. */
  function replace(self: Instance, child: Child): void {
    if (closing.signal.aborted || self !== current) return;
    self.isLost = true;
    self.isReady = false;
    const paused = child.exited.then(() =>
      clock.sleep(self.restartPauseMs ?? FIRST_RESTART_PAUSE_MS, closing.signal),
    );
    current = startInstance(Promise.all([paused, child.gone]).then(() => undefined));
  }

  /** Kills a runtime that did not answer in time, and starts a new one. Its other calls end as interrupted. */
  function restart(hung: Instance): void {
    if ((hung !== current && !hung.isReplaced) || closing.signal.aborted) return;
    onWarning('the runtime did not answer in time; restarting it', { pid: hung.child?.pid ?? 0 });
    hung.over.abort();
    hung.child?.kill();
    (client.abandon ?? client.interrupt)();
    // Otherwise its replacement starts when its calls have ended.
    if (hung === current)
      current = startInstance((hung.child?.gone ?? Promise.resolve()).then(() => undefined));
  }

  function renew(): void {
    const old = current;
    renewals++;
    // An instance without a process is about to read its environment.
    if (closing.signal.aborted || old.child === undefined) return;
    const { child } = old;
    old.isReplaced = true;
    leaving = child;
    const replaced = untilIdle()
      .then(() => child.stop(STOP_WITHIN_MS))
      .then(() => child.gone)
      .then(() => undefined);
    failedStart = undefined;
    current = startInstance(replaced, true);
  }

  /** Resolves when no call is in flight. */
  async function untilIdle(): Promise<void> {
    while (calls.size > 0) await Promise.race(calls);
  }

  /** The time that remains once the runtime is ready; undefined if it did not become ready in time. */
  async function timeLeftWhenReady(instance: Instance, timeoutMs: number): Promise<number | undefined> {
    if (instance.isReady) return timeoutMs;
    // After a failed start the call fails at once: waiting for the next start would use up its whole timeout.
    if (failedStart !== undefined) return undefined;
    const startedAt = clock.now();
    const waiting = new AbortController();
    const over = AbortSignal.any([waiting.signal, interruption.signal]);
    await Promise.race([instance.settled, clock.sleep(timeoutMs, over)]);
    waiting.abort();
    const leftMs = timeoutMs - (clock.now() - startedAt);
    return instance.isReady && leftMs > 0 ? leftMs : undefined;
  }

  async function untilReady(stop: AbortSignal): Promise<void> {
    const over = AbortSignal.any([stop, closing.signal]);
    while (!current.isReady && !over.aborted) {
      const settled = new AbortController();
      await Promise.race([
        current.settled,
        clock.sleep(MAX_RESTART_PAUSE_MS, AbortSignal.any([over, settled.signal])),
      ]);
      settled.abort();
    }
  }

  async function untilStarted(stop: AbortSignal): Promise<StartResult> {
    const interrupted = interruption.signal;
    const settled = new AbortController();
    const over = AbortSignal.any([stop, interrupted, settled.signal]);
    await Promise.race([current.settled, clock.sleep(Number.POSITIVE_INFINITY, over)]);
    settled.abort();
    if (interrupted.aborted) return 'interrupted';
    return stop.aborted ? 'stopped' : 'settled';
  }

  /** Also ends the calls that still wait for the runtime to become ready. */
  function interrupt(): void {
    interruption.abort();
    interruption = new AbortController();
    client.interrupt();
  }

  /** Undefined if the runtime did not become ready in time; `replaced` if another instance has to take the call. */
  async function callOnce(
    request: RuntimeRequest,
    instance: Instance,
  ): Promise<CallResult | 'replaced' | undefined> {
    const timeoutMs = await timeLeftWhenReady(instance, request.timeoutMs);
    if (instance.isReplaced) return 'replaced';
    if (timeoutMs === undefined) return undefined;
    const token = {};
    inFlight.set(token, request.envelope.id);
    let until = clock.now() + timeoutMs;
    const onStart = () => {
      until = clock.now() + timeoutMs;
      request.onStart?.();
    };
    const calling = client.call({ ...request, timeoutMs, onStart });
    calls.add(calling);
    const end = await calling
      .then((answer) => withExitReason(answer, instance, until, { clock, interrupted: interruption.signal }))
      .finally(() => calls.delete(calling));
    // The event loop may deliver output that was printed before the answer only after the answer.
    setImmediate(() => inFlight.delete(token));
    if (end.kind === 'timeout') restart(instance);
    if (!NO_ANSWER.includes(end.kind)) pauseMs = FIRST_RESTART_PAUSE_MS;
    return end;
  }

  /**
   * If a runtime ended before it read the request, the call is repeated with the next instance and does not fail. If
   * that instance is not ready before the call's timeout, the call ends as interrupted, and the envelope is resent.
   */
  async function call(request: RuntimeRequest): Promise<CallResult> {
    const until = clock.now() + request.timeoutMs;
    const interrupted = interruption.signal;
    for (let isFirst = true; ; isFirst = false) {
      const instance = current;
      const timeoutMs = until - clock.now();
      const end = await callOnce({ ...request, timeoutMs }, instance);
      if (end === 'replaced') continue;
      if (end === undefined && interrupted.aborted) return { kind: 'interrupted' };
      if (end === undefined)
        return isFirst && !instance.isReplacement
          ? { kind: 'unreachable', detail: notReadyText(failedStart) }
          : { kind: 'interrupted' };
      if (end.kind !== 'unreachable' || !end.isUnsent) return end;
      if (instance === current || clock.now() >= until) return end;
    }
  }

  return {
    restartsItself: true,
    call,
    ...(client.capacity !== undefined && { capacity: () => client.capacity?.() ?? 1 }),
    cancel: () => client.cancel?.(),
    interrupt,
    untilReady,
    // False during the pause after a failed start: a call then reports at once why the start failed.
    isStarting: () => !current.isReady && (failedStart === undefined || current.child !== undefined),
    untilStarted,
    renew,
    waitsFor: () => options.waitsFor?.(),
    problem: async () =>
      current.isReady ? client.problem() : (options.waitsFor?.() ?? 'the runtime is not ready'),
    close: async (withinMs = STOP_WITHIN_MS) => {
      closing.abort();
      interruption.abort();
      current.over.abort();
      await leaving?.stop(Math.min(withinMs, STOP_WITHIN_MS));
      if (current.child !== undefined) {
        await current.settled;
        await current.child.stop(Math.min(withinMs, STOP_WITHIN_MS));
      }
      await client.close();
    },
  };
}
