import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { processRuntime } from '../adapters/runtime-process/process-runtime.ts';
import { asyaRuntime } from '../adapters/runtime-socket/asya-runtime.ts';
import { systemClock } from '../adapters/system/system.ts';
import type { ActorSpec } from '../config/manifest/manifest.ts';
import { handlerEnvironment } from '../config/settings/handler-environment.ts';
import type { FanOut } from '../core/delivery/answer.ts';
import type { Runtime } from '../ports/runtime.ts';

export interface PythonOptions {
  readonly spec: ActorSpec;
  /** The folder of the actor's document. */
  readonly cwd: string;
  readonly command: string;
  readonly fanOut: FanOut;
  readonly realTimeoutMs: number;
}

const MAX_ANSWER_BYTES = 6 * 1024 * 1024;
const STARTS_WITHIN_MS = 60_000;
const SHOWN_LINES = 20;

/** Starts the bundled Python runtime with an actor's handler. Rejects with its output if the handler cannot be loaded. */
export async function startPython({
  spec,
  cwd,
  command,
  fanOut,
  realTimeoutMs,
}: PythonOptions): Promise<Runtime> {
  const folder = mkdtempSync(join(tmpdir(), 'asya-test-'));
  const path = join(folder, 'runtime.sock');
  const log: string[] = [];
  const runtime = processRuntime({
    command,
    cwd,
    env: async () =>
      handlerEnvironment({
        own: process.env,
        passed: [],
        region: 'us-east-1',
        set: spec.environment,
        mesh: { ASYA_RUNTIME_URL: `asya:${path}` },
      }),
    client: asyaRuntime({
      path,
      actor: spec.name,
      fanOut,
      maxAnswerBytes: MAX_ANSWER_BYTES,
      answerWithinMs: realTimeoutMs,
    }),
    clock: systemClock,
    startupTimeoutMs: STARTS_WITHIN_MS,
    onLine: ({ stream, text }) => {
      log.push(text);
      // The runtime writes its own log to stderr. What the handler prints helps to understand a test.
      if (stream === 'stdout') process.stderr.write(`${spec.name}: ${text}\n`);
    },
    onWarning: () => {},
  });
  const close = async () => {
    await runtime.close();
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  };
  await runtime.untilStarted?.(new AbortController().signal);
  if ((await runtime.problem()) === undefined) return { ...runtime, close };
  await close();
  throw new Error(
    `the Python handler of actor "${spec.name}" did not start:\n${log.slice(-SHOWN_LINES).join('\n')}`,
  );
}
