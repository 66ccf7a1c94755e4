import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { deriveId, systemClock } from '../../../adapters/system/system.ts';
import { type ReplayEnd, type ReplayOptions, replayFailures } from '../../../app/replay/replay.ts';
import { type FailureSelection, newestOfEach, selectFailures } from '../../../app/replay/select-failures.ts';
import { ACTOR_NAME_RULE, isRoutableName } from '../../../core/envelope/actor-name.ts';
import type { Failure } from '../../../core/failure/failure.ts';
import { defined } from '../../../core/text/defined.ts';
import { type Operation, readPatch } from '../../../core/text/json-patch.ts';
import { suggestion } from '../../../core/text/nearest.ts';
import { EXIT } from '../../exit-status.ts';
import { type Operator, withOperator } from '../../operator.ts';
import { withFullIds } from '../../options/find-id.ts';
import { type SelectionOptions, selectionFrom } from '../../options/read-filter.ts';
import { durationOption, positiveNumberOption } from '../../options/read-option.ts';
import { unknownValues } from '../../options/unknown-values.ts';
import { jsonOutput, oneLine } from '../../output/plain-text.ts';
import type { Terminal } from '../../output/terminal.ts';
import { UsageError } from '../../usage-error.ts';
import { printDryRun } from './replay-dry-run.ts';
import { createProgressView } from './replay-progress.ts';
import { endJson, endText } from './replay-text.ts';

interface ReplayCommand extends SelectionOptions {
  readonly go?: boolean;
  readonly dryRun?: boolean;
  readonly to?: string;
  readonly patch?: string;
  readonly timeout?: string;
  readonly rate: string;
  readonly ramp: boolean;
  readonly wait: string;
  readonly again?: boolean;
  readonly payload?: boolean;
  readonly json?: boolean;
}

/** How many envelopes each stage sends. The next stage starts when all have succeeded; the last size repeats. */
const STAGES = [1, 10, 100] as const;

/** `asya replay`: sends failed envelopes again, or prints what would be sent. */
export function runReplay(
  terminal: Terminal,
  options: ReplayCommand,
  ids: readonly string[],
): Promise<number> {
  if (options.go && options.dryRun) throw new UsageError('asya: pass either --go or --dry-run, not both');
  const selection = selectionFrom(ids, options, terminal.now());
  return withOperator(terminal, options, (operator) => replay(selection, options, operator, terminal));
}

async function replay(
  selection: FailureSelection,
  command: ReplayCommand,
  operator: Operator,
  terminal: Terminal,
): Promise<number> {
  const options = await optionsFrom(command, operator, terminal.cwd);
  const { stores, mesh } = operator;
  const named =
    'filter' in selection
      ? // Nobody wants to repeat what has succeeded: only an id selects a resolved failure.
        ({ ok: true, selection: { states: ['open', 'replayed'], ...selection } } as const)
      : await withFullIds(selection, stores.failures);
  const selected = named.ok ? await selectFailures(named.selection, stores.failures) : named;
  if (!selected.ok) {
    terminal.printError(`asya: ${oneLine(selected.problem)}`);
    return EXIT.failed;
  }
  if (selected.unknown.length > 0) {
    terminal.printError(
      `asya: no failures found for ${selected.unknown.map((id) => `"${id}"`).join(', ')}; nothing was sent`,
    );
    return EXIT.failed;
  }
  const failures = newestOfEach(selected.failures);
  if (failures.length === 0) {
    for (const message of await unknownValues(command, { ...stores, ...defined({ mesh }) }))
      terminal.printError(message);
    terminal.printError(
      'asya: no failures match (resolved ones are not replayed); `asya failures --all` lists all of them',
    );
    return EXIT.failed;
  }
  return command.go === true
    ? send(failures, options, command, operator, terminal)
    : printDryRun(failures, options, command, operator, terminal);
}

async function optionsFrom(
  command: ReplayCommand,
  { mesh, transport }: Operator,
  cwd: string,
): Promise<ReplayOptions> {
  const { patch } = command;
  const to = toFrom(command, mesh?.actors);
  const timeoutMs = timeoutFrom(command);
  const flowTimeouts = new Map(mesh?.flows.map(({ name, timeoutSeconds }) => [name, timeoutSeconds]));
  return {
    replay: `r-${randomBytes(6).toString('hex')}`,
    ...defined({ to }),
    ...(patch !== undefined && { patch: patchFrom(patch, cwd) }),
    timeoutMsOf: ({ flow }) => {
      const seconds = flow === undefined ? undefined : flowTimeouts.get(flow);
      return timeoutMs ?? (seconds === undefined ? undefined : seconds * 1000);
    },
    again: command.again === true,
    perSecond: positiveNumberOption('--rate', command.rate),
    ...(command.ramp ? { stages: STAGES } : {}),
    waitMs: durationOption('--wait', command.wait),
    maxBodyBytes: (await transport()).traits.maxBodyBytes,
  };
}

function toFrom({ to }: ReplayCommand, actors: readonly string[] | undefined): string | undefined {
  if (to === undefined) return undefined;
  if (!isRoutableName(to))
    throw new UsageError(`asya: --to is "${to}"; ${ACTOR_NAME_RULE}, and must not start with "x-"`);
  if (actors !== undefined && !actors.includes(to))
    throw new UsageError(
      `asya: --to is "${to}", which is not an actor of this mesh${suggestion(to, actors)}`,
    );
  return to;
}

/** Admission rejects an envelope with less than this left before its deadline. */
const MIN_TIMEOUT_MS = 1_000;

function timeoutFrom({ timeout }: ReplayCommand): number | undefined {
  if (timeout === undefined) return undefined;
  const timeoutMs = durationOption('--timeout', timeout);
  if (timeoutMs <= MIN_TIMEOUT_MS)
    throw new UsageError(
      `asya: --timeout is "${timeout}"; expected more than 1s, because actors reject envelopes with less time left`,
    );
  return timeoutMs;
}

/** Text that starts with a bracket is a patch, and with a brace a mistyped one. Anything else is a file name. */
function patchFrom(text: string, cwd: string): readonly Operation[] {
  const reading = readPatch(/^\s*[[{]/.test(text) ? text : fileText(resolve(cwd, text)));
  if ('problem' in reading) throw new UsageError(`asya: --patch: ${reading.problem}`);
  return reading.patch;
}

function fileText(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    throw new UsageError(`asya: --patch: ${(error as Error).message}`);
  }
}

async function send(
  failures: readonly Failure[],
  options: ReplayOptions,
  command: ReplayCommand,
  operator: Operator,
  terminal: Terminal,
): Promise<number> {
  terminal.printError(
    `replay ${options.replay}: ${failures.length} ${failures.length === 1 ? 'envelope' : 'envelopes'}`,
  );
  const progress = createProgressView(terminal, failures.length);
  const end = await replayFailures(failures, options, {
    ...operator.stores,
    checkQueue: operator.checkQueue,
    send: operator.send,
    clock: { ...systemClock, now: terminal.now },
    deriveId,
    stop: terminal.stop(),
    onProgress: progress.show,
  });
  progress.end();
  if (command.json) terminal.print(jsonOutput(endJson(end, options.replay)));
  else terminal.printError(endText(end, options));
  return statusOf(end);
}

/** Skipping an envelope that was replayed before is expected. Anything else that was not sent is a failure. */
function statusOf({ why, sent, skipped }: ReplayEnd): number {
  const isIncomplete = sent.length === 0 || skipped.some(({ isReplayedBefore }) => !isReplayedBefore);
  return why === 'all-sent' && isIncomplete ? EXIT.failed : STATUS[why];
}

const STATUS = {
  'all-sent': EXIT.ok,
  'failed-again': EXIT.failedAgain,
  'no-end': EXIT.failedAgain,
  stopped: EXIT.interrupted,
  refused: EXIT.failed,
} as const satisfies Readonly<Record<ReplayEnd['why'], number>>;
