import { extname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Child, startChild } from '../../adapters/runtime-process/child.ts';
import { systemClock } from '../../adapters/system/system.ts';
import { commandOf } from '../../config/settings/shell-command.ts';
import { umaskArgument } from '../engines/private-files.ts';
import { functionEnvironment } from '../functions/function-environment.ts';
import { type ActorRunner, type RunnerOptions, variablesOf } from './actor-runner.ts';

const HOST = fileURLToPath(new URL(`worker-host${extname(import.meta.filename)}`, import.meta.url));
const FIRST_PAUSE_MS = 500;
const MAX_PAUSE_MS = 30_000;
/** A process that ran for this long did not fail at startup, so the backoff starts again. */
const LONG_LIFE_MS = 60_000;
const RENEWED_WITHIN_MS = 30_000;

/** Runs an actor as a long-running host does: sidecars receive from the queue, and are restarted when they exit. */
export function runAsWorkers(
  options: RunnerOptions,
  more: Readonly<Record<string, string>> = {},
): ActorRunner {
  const { plan, cwd, onLine, onWarning } = options;
  const closing = new AbortController();
  const children = new Set<Child>();
  /** Children that were asked to stop. Their exit needs no warning. */
  const leaving = new Set<Child>();

  async function keepRunning(): Promise<void> {
    let pauseMs = FIRST_PAUSE_MS;
    while (!closing.signal.aborted) {
      const variables = { ...variablesOf(options), ...more };
      const startedAt = systemClock.now();
      const child = startChild({
        command: commandOf(process.execPath, HOST, ...umaskArgument()),
        env: functionEnvironment({ name: plan.actor, memoryMb: plan.memoryMb }, variables, process.env),
        cwd,
        onLine,
      });
      children.add(child);
      const how = await child.exited;
      children.delete(child);
      const wasStopped = leaving.delete(child);
      if (closing.signal.aborted) return;
      if (wasStopped || systemClock.now() - startedAt > LONG_LIFE_MS) pauseMs = FIRST_PAUSE_MS;
      if (wasStopped) continue;
      onWarning(`the sidecar of "${plan.actor}" ${how}; it is being restarted`);
      await systemClock.sleep(pauseMs, closing.signal);
      pauseMs = Math.min(pauseMs * 2, MAX_PAUSE_MS);
    }
  }

  const kept = Array.from({ length: Math.min(plan.maxReplicas, options.replicas) }, keepRunning);
  return {
    plan,
    renew: () => {
      for (const child of children) {
        if (leaving.has(child)) continue;
        leaving.add(child);
        void child.stop(RENEWED_WITHIN_MS);
      }
    },
    pids: () => [...children].map(({ pid }) => pid),
    stop: async (graceMs) => {
      closing.abort();
      await Promise.all([...children].map((child) => child.stop(graceMs)));
      await Promise.all(kept);
    },
  };
}
