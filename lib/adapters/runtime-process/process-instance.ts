import { defined } from '../../core/text/defined.ts';
import { durationText } from '../../core/text/duration.ts';
import { type Child, followGroup } from './child.ts';
import { type Ending, noteStderr } from './exit-text.ts';
import type { ProcessRuntimeOptions } from './process-options.ts';
import type { SpawnedGroup } from './spawn-group.ts';
import { untilAnswering } from './until-answering.ts';

/** One run of the command, from the decision to start it to its end. */
export interface Instance extends Ending {
  child?: Child;
  isReady: boolean;
  /** Resolves when the process is ready, or has ended. */
  readonly settled: Promise<void>;
  /** Aborted when the process has ended or is being killed. */
  readonly over: AbortController;
  /** It gets no more calls, because another instance replaces it. */
  isReplaced?: boolean;
  /** It replaces an instance that worked. A call that waited for it does not fail if it cannot start. */
  readonly isReplacement: boolean;
  /** One of its streams ended before it was known to be ready. */
  isClosed?: boolean;
  /** It was ready and has ended or is about to. Its successor waits for its exit. */
  isLost?: boolean;
  /** How long to wait after its end before the next start. */
  restartPauseMs?: number;
}

interface InstanceDeps {
  readonly options: ProcessRuntimeOptions;
  /** The envelope id of each call in flight. */
  readonly inFlight: ReadonlyMap<object, string>;
  readonly onExit: (self: Instance, child: Child, reason: string, ranMs: number) => void;
  /** A stream to a process that was ready has ended. */
  readonly onLost: (self: Instance, child: Child) => void;
}

/** A line of output becomes a line of JSON, in which a character may take six. Readers of the log allow 256 KiB. */
const MAX_LINE_LENGTH = 32 * 1024;
/** A process with a stream that has ended is about to exit. One that goes on without it is of no use. */
const EXIT_WITHOUT_CHANNEL_MS = 1_000;

/** Follows the process of an instance. Resolves when it is ready or has ended. */
export async function followInstance(
  self: Instance,
  group: SpawnedGroup,
  deps: InstanceDeps,
): Promise<Child> {
  const { options, inFlight, onExit } = deps;
  const { clock, client } = options;
  let hasStarted = false;
  const child = followGroup(group, {
    maxLineLength: MAX_LINE_LENGTH,
    onLine: (stream, line) => {
      if (stream === 'stderr') noteStderr(self, line, hasStarted);
      const envelopeId = onlyCall(inFlight);
      if (hasStarted && inFlight.size > 0) client.printed?.();
      const origin = hasStarted ? defined({ envelopeId }) : { isStarting: true as const };
      options.onLine({ stream, text: line, ...origin });
    },
  });
  self.child = child;
  if (self.over.signal.aborted) child.kill();
  child.exited.then((reason) => onExit(self, child, reason, clock.now() - child.startedAtMs));
  const ready = new AbortController();
  killIfLate(self, child, options, AbortSignal.any([self.over.signal, ready.signal]));
  const isReady = await untilReadyOrOver(self, child, deps);
  ready.abort();
  self.isReady = isReady && self.isClosed !== true;
  // What was printed before may be read after the message that the process is ready.
  if (isReady)
    setImmediate(() => {
      hasStarted = true;
    });
  return child;
}

/** False if the process is over before it is ready. */
function untilReadyOrOver(self: Instance, child: Child, deps: InstanceDeps): Promise<boolean> {
  const { client, clock } = deps.options;
  const { channel } = child;
  const over = self.over.signal;
  if (client.attach === undefined || channel === undefined) return untilAnswering(client, clock, over);
  return new Promise((resolve) => {
    if (over.aborted) resolve(false);
    over.addEventListener('abort', () => resolve(false), { once: true });
    const detach = client.attach?.(
      channel,
      () => resolve(!over.aborted),
      (problem) => void onChannelLost(self, child, problem, deps),
    );
    // A process that left the group may keep the streams open for as long as it lives.
    child.gone.then(detach);
  });
}

/** The process gets no more calls: it has ended or is about to, or it sent something that cannot be read. */
async function onChannelLost(
  self: Instance,
  child: Child,
  problem: string | undefined,
  { options, onLost }: InstanceDeps,
): Promise<void> {
  if (problem !== undefined) {
    self.exitReason ??= `sent something that cannot be read (${problem}) and was killed`;
    child.kill();
  }
  if (self.isReady) onLost(self, child);
  else self.isClosed = true;
  const exited = new AbortController();
  child.exited.then(() => exited.abort());
  await options.clock.sleep(EXIT_WITHOUT_CHANNEL_MS, exited.signal);
  child.kill();
}

async function killIfLate(
  self: Instance,
  child: Child,
  { startupTimeoutMs, clock, startupSleep = clock.sleep, onWarning }: ProcessRuntimeOptions,
  readyOrOver: AbortSignal,
): Promise<void> {
  if (startupTimeoutMs === undefined) return;
  await startupSleep(startupTimeoutMs, readyOrOver);
  if (readyOrOver.aborted) return;
  self.isLate = true;
  self.exitReason = `exceeded its startup timeout of ${durationText(startupTimeoutMs)} (ASYA_RUNTIME_STARTUP_TIMEOUT) and was killed`;
  onWarning('the runtime did not become ready in time; killing it', { pid: child.pid, startupTimeoutMs });
  child.kill();
}

function onlyCall(inFlight: ReadonlyMap<object, string>): string | undefined {
  return inFlight.size === 1 ? inFlight.values().next().value : undefined;
}
