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
/** Whoever lived so long did not end by what it was started with. */
const LONG_LIFE_MS = 60_000;
const RENEWED_WITHIN_MS = 30_000;

/** As a host that lives long runs it: sidecars that take from the queue by themselves, and start again when they end. */
export function runAsWorkers(
  options: RunnerOptions,
  more: Readonly<Record<string, string>> = {},
): ActorRunner {
  const { plan, cwd, onLine, onWarning } = options;
  const closing = new AbortController();
  const children = new Set<Child>();
  /** Those that were asked to end: their end is no trouble. */
  const leaving = new Set<Child>();
  let started = 0;

  async function keepOne(): Promise<void> {
    let pauseMs = FIRST_PAUSE_MS;
    while (!closing.signal.aborted) {
      const variables = { ...variablesOf(options, ++started), ...more };
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
      const wasAsked = leaving.delete(child);
      if (closing.signal.aborted) return;
      if (wasAsked || systemClock.now() - startedAt > LONG_LIFE_MS) pauseMs = FIRST_PAUSE_MS;
      if (wasAsked) continue;
      onWarning(`the sidecar of "${plan.actor}" ${how}; it is started again`);
      await systemClock.sleep(pauseMs, closing.signal);
      pauseMs = Math.min(pauseMs * 2, MAX_PAUSE_MS);
    }
  }

  const kept = Array.from({ length: Math.min(plan.maxReplicas, options.replicas) }, keepOne);
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
