import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { Command } from 'commander';
import { deriveId, systemClock } from '../../adapters/system/system.ts';
import { type ReplayEnd, type ReplayOptions, replayFailures } from '../../app/replay/replay.ts';
import { newestOfEach, type Selection, selectFailures } from '../../app/replay/select-failures.ts';
import { ACTOR_NAME_RULE, isRoutableName } from '../../core/envelope/actor-name.ts';
import type { Failure } from '../../core/failure/failure.ts';
import { defined } from '../../core/text/defined.ts';
import { type Operation, readPatch } from '../../core/text/json-patch.ts';
import { suggestion } from '../../core/text/nearest.ts';
import { EXIT } from '../exit.ts';
import {
  durationOption,
  numberOption,
  type SelectionOptions,
  selectionFrom,
  withFilterOptions,
} from '../filter-options.ts';
import { type Operator, withOperator } from '../operator.ts';
import { jsonOutput, oneLine } from '../output/plain-text.ts';
import type { Terminal } from '../output/terminal.ts';
import { UsageError } from '../usage-error.ts';
import { printDryRun } from './replay/replay-dry-run.ts';
import { progressOn } from './replay/replay-progress.ts';
import { endJson, endText } from './replay/replay-text.ts';

interface ReplayCommand extends SelectionOptions {
  readonly go?: boolean;
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

/** One, then ten, then a hundred at a time, each checked before the next. */
const STAGES = [1, 10, 100] as const;

export function addReplay(program: Command, terminal: Terminal, exit: (status: number) => void): void {
  withFilterOptions(program.command('replay').argument('[ids...]', 'envelopes'))
    .description('sends failed envelopes once more: a fresh attempt with the payload they had')
    .option('--all', 'everything in the index')
    .option('--go', 'sends; without it, what would be sent is printed')
    .option('--dry-run', 'prints what would be sent: what happens without --go')
    .option('--to <actor>', 'to this actor, not to the one each failed at')
    .option('--patch <patch>', 'changes the payload by JSON Patch: a file, or the patch itself')
    .option(
      '--timeout <duration>',
      "a new deadline from now; without it, the flow's timeout where it is known",
    )
    .option('--rate <number>', 'so many a second at the most', '50')
    .option('--no-ramp', 'sends all without waiting for the first ones to end well')
    .option('--wait <duration>', 'how long the ends of a stage are waited for', '10m')
    .option('--again', 'also what was replayed before')
    .option('--payload', 'prints payloads in a dry run')
    .option('--json', 'for scripts')
    .addHelpText(
      'after',
      `
Examples:
  asya replay 7f0c2b                              what would be sent, and where
  asya replay 7f0c2b --go
  asya replay --group 3fa9c1d2e4b5 --go           one, then ten, then the rest: stops when one fails again
  asya replay --group 3fa9c1d2e4b5 --patch '[{"op":"replace","path":"/n","value":1}]' --go
  asya replay --actor score --since 1h --to score-v2 --rate 5 --go

The set is frozen when you ask: what fails meanwhile is not swept in. The record stays and lists its replays.
If an actor's queue is missing or the broker refuses it, its failures are reported and not sent, and the others are;
--to sends them to another actor.
Exit status: 0 all sent (and, with the ramp, all ended well), 1 something outside failed, nothing was found or some
could not be sent (in a dry run: a queue is missing or cannot be looked up), 2 called wrongly, 3 stopped by itself because some failed again or had no end, 130 stopped by Ctrl-C.`,
    )
    .action(async (ids: readonly string[], options: ReplayCommand & { dryRun?: boolean }) => {
      if (options.go && options.dryRun) throw new UsageError('asya: --go and --dry-run at once; keep one');
      const selection = selectionFrom(ids, options, terminal.now());
      exit(
        await withOperator(terminal, options, (operator) => replay(selection, options, operator, terminal)),
      );
    });
}

async function replay(
  selection: Selection,
  command: ReplayCommand,
  operator: Operator,
  terminal: Terminal,
): Promise<number> {
  const options = await optionsFrom(command, operator);
  const selected = await selectFailures(selection, operator.stores.failures);
  if (!selected.ok) {
    terminal.say(`asya: ${oneLine(selected.problem)}`);
    return EXIT.failed;
  }
  if (selected.unknown.length > 0) {
    terminal.say(
      `asya: no failure of ${selected.unknown.map((id) => `"${id}"`).join(', ')}; nothing was sent`,
    );
    return EXIT.failed;
  }
  const failures = newestOfEach(selected.failures);
  if (failures.length === 0) {
    terminal.say('asya: no failure is meant by that; `asya failures` tells what there is');
    return EXIT.failed;
  }
  return command.go === true
    ? send(failures, options, command, operator, terminal)
    : printDryRun(failures, options, command, operator, terminal);
}

async function optionsFrom(command: ReplayCommand, { mesh, transport }: Operator): Promise<ReplayOptions> {
  const { patch } = command;
  const to = toFrom(command, mesh?.actors);
  const timeoutMs = timeoutFrom(command);
  const flowTimeouts = new Map(mesh?.flows.map(({ name, timeoutSeconds }) => [name, timeoutSeconds]));
  return {
    replay: `r-${randomBytes(6).toString('hex')}`,
    ...defined({ to }),
    ...(patch !== undefined && { patch: patchFrom(patch) }),
    timeoutMsOf: ({ flow }) => {
      const seconds = flow === undefined ? undefined : flowTimeouts.get(flow);
      return timeoutMs ?? (seconds === undefined ? undefined : seconds * 1000);
    },
    again: command.again === true,
    perSecond: numberOption('--rate', command.rate),
    ...(command.ramp ? { stages: STAGES } : {}),
    waitMs: durationOption('--wait', command.wait),
    maxBodyBytes: (await transport()).traits.maxBodyBytes,
  };
}

function toFrom({ to }: ReplayCommand, actors: readonly string[] | undefined): string | undefined {
  if (to === undefined) return undefined;
  if (!isRoutableName(to))
    throw new UsageError(`asya: --to is "${to}"; ${ACTOR_NAME_RULE}, and none of the mesh's own (x-...)`);
  if (actors !== undefined && !actors.includes(to))
    throw new UsageError(`asya: --to is "${to}", no actor of this mesh${suggestion(to, actors)}`);
  return to;
}

/** Nobody takes on what has less of its deadline left. */
const MIN_TIMEOUT_MS = 1_000;

function timeoutFrom({ timeout }: ReplayCommand): number | undefined {
  if (timeout === undefined) return undefined;
  const timeoutMs = durationOption('--timeout', timeout);
  if (timeoutMs <= MIN_TIMEOUT_MS)
    throw new UsageError(`asya: --timeout is "${timeout}"; an actor takes nothing on with 1s or less left`);
  return timeoutMs;
}

/** The patch itself begins with a bracket, and a wrong one with a brace; anything else is a file's name. */
function patchFrom(text: string): readonly Operation[] {
  const reading = readPatch(/^\s*[[{]/.test(text) ? text : fileText(text));
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
  terminal.say(
    `replay ${options.replay}: ${failures.length} ${failures.length === 1 ? 'envelope' : 'envelopes'}`,
  );
  const progress = progressOn(terminal, failures.length);
  const end = await replayFailures(failures, options, {
    ...operator.stores,
    reach: operator.reach,
    send: operator.send,
    clock: { ...systemClock, now: terminal.now },
    deriveId,
    stop: terminal.stop(),
    onProgress: progress.show,
  });
  progress.end();
  if (command.json) terminal.print(jsonOutput(endJson(end, options.replay)));
  else terminal.say(endText(end, options));
  return statusOf(end);
}

/** What was replayed before is skipped as it should be; anything else that was not sent is told by the status too. */
function statusOf({ why, sent, skipped }: ReplayEnd): number {
  const isShort = sent.length === 0 || skipped.some(({ isReplayedBefore }) => !isReplayedBefore);
  return why === 'all-sent' && isShort ? EXIT.failed : STATUS[why];
}

const STATUS = {
  'all-sent': EXIT.fine,
  'failed-again': EXIT.failedAgain,
  'no-end': EXIT.failedAgain,
  stopped: EXIT.stopped,
  refused: EXIT.failed,
} as const satisfies Readonly<Record<ReplayEnd['why'], number>>;
