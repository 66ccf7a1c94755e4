import { deriveId, systemClock } from '../../../adapters/system/system.ts';
import { type FollowedRun, followRun, type RunEnd } from '../../../app/runs/follow-run.ts';
import type { Task } from '../../../core/task/task.ts';
import type { LogLine } from '../../../local/mesh/log-line.ts';
import { EXIT } from '../../exit-status.ts';
import { type Operator, withOperator } from '../../operator.ts';
import { envelopeId } from '../../options/find-id.ts';
import { endLine, errorLines } from '../../output/error-lines.ts';
import { type LogTail, logTail } from '../../output/log-tail.ts';
import { lineText } from '../../output/log-text.ts';
import { oneLine } from '../../output/plain-text.ts';
import type { Terminal } from '../../output/terminal.ts';
import { type LatestStep, stepOfTask, treeLines } from './run-tree.ts';

interface WatchOptions {
  readonly mesh?: string;
}

/** `asya watch`: follows one envelope and its fan-out children until all have ended. */
export function runWatch(terminal: Terminal, options: WatchOptions, id: string): Promise<number> {
  return withOperator(terminal, options, (operator) => watch(id, operator, terminal));
}

const LOCAL_INTERVAL_MS = 200;
/** Each round reads the table of a mesh on AWS. */
const REMOTE_INTERVAL_MS = 1_000;
const ROUNDS_BEFORE_HINT = 10;

/** The log of a mesh on this machine, by envelope. Without one, only the gateway knows where an envelope is. */
interface Steps {
  readonly lines: readonly LogLine[];
  readonly latest: ReadonlyMap<string, LatestStep>;
}

async function watch(typed: string, { mesh, stores }: Operator, terminal: Terminal): Promise<number> {
  const { print, printError } = terminal;
  const stop = terminal.stop();
  const log = mesh === undefined ? undefined : logTail(mesh.logFile);
  const intervalMs = mesh === undefined ? REMOTE_INTERVAL_MS : LOCAL_INTERVAL_MS;
  try {
    const latest = new Map<string, LatestStep>();
    const earlier = readSteps(log, latest);
    const full = await envelopeId(typed, stores, latest.keys());
    if (!full.ok) return failWith(full.problem, printError);
    const { id } = full;
    const run = followRun(id, { ...stores, deriveId, now: terminal.now });
    const printed = new Set<LogLine>();
    let lines = earlier.lines;
    let task: Task | undefined;
    let shown = 1;
    for (let round = 1; !stop.aborted; round++) {
      // Before the log, so that the log is complete when the end is found.
      const found = await refreshAll(run);
      if (!found.ok) return failWith(found.problem, printError);
      task = await taskOf(id, stores, task);
      if (task !== undefined) run.addChildren(id, Object.keys(task.children));
      lines = [...lines, ...readSteps(log, latest).lines];
      for (const line of lines) {
        const text = isAbout(line, id, run) && !printed.has(line) ? lineText(line) : undefined;
        if (text === undefined) continue;
        print(text);
        printed.add(line);
      }
      if (run.open().length === 0) return printEnd(id, run, print);
      const size = allOf(id, run).length;
      // The whole tree only if it has grown: it may have hundreds of lines.
      if (size > shown) print(treeText(id, run, latest, task));
      else
        for (const end of found.ends)
          print(`${oneLine(end.record.envelopeId)}  ${endLine(end.record, end.envelope)}`);
      shown = size;
      if (printed.size === 0 && found.ends.length === 0 && round === ROUNDS_BEFORE_HINT)
        printError(
          `no ${log === undefined ? 'news' : 'log lines'} for ${oneLine(id)} yet: it is waiting in a queue, or it was never sent; press Ctrl-C to stop waiting`,
        );
      await systemClock.sleep(intervalMs, stop);
    }
    return EXIT.interrupted;
  } finally {
    log?.close();
  }
}

/** Refreshes until no more envelopes have ended, so that the whole tree of a run that has ended is found at once. */
async function refreshAll(run: FollowedRun): ReturnType<FollowedRun['refresh']> {
  const ends: RunEnd[] = [];
  for (;;) {
    const found = await run.refresh();
    if (!found.ok) return found;
    ends.push(...found.ends);
    if (found.ends.length === 0 || run.open().length === 0) return { ok: true, ends };
  }
}

function failWith(problem: string, printError: Terminal['printError']): number {
  printError(`asya: ${oneLine(problem)}`);
  return EXIT.failed;
}

/** The task of the envelope at the gateway, if there is one. A task that cannot be read does not stop the watch. */
async function taskOf(
  id: string,
  { tasks }: Operator['stores'],
  known: Task | undefined,
): Promise<Task | undefined> {
  const found = await tasks.get(id);
  return found.ok ? found.task : known;
}

/** Reads the new lines of the log, and notes where each envelope is. */
function readSteps(log: LogTail | undefined, latest: Map<string, LatestStep>): Steps {
  const lines = log?.read() ?? [];
  for (const line of lines)
    if (line.kind === 'delivery')
      latest.set(line.envelopeId, { actor: line.actor, attempt: line.attempt, text: 'last seen' });
  return { lines, latest };
}

function isAbout(line: LogLine, root: string, run: FollowedRun): boolean {
  if (line.kind === 'other' || line.envelopeId === undefined) return false;
  return isInTree(line.envelopeId, root, run);
}

function isInTree(id: string, at: string, run: FollowedRun): boolean {
  return id === at || run.childrenOf(at).some((child) => isInTree(id, child, run));
}

function treeText(
  id: string,
  run: FollowedRun,
  latest: ReadonlyMap<string, LatestStep>,
  task: Task | undefined,
): string {
  const latestOf = (one: string) => (task && stepOfTask(task, one)) ?? latest.get(one);
  return treeLines(id, run, latestOf).join('\n');
}

/** One line for a single envelope, a tree for a family. */
function printEnd(id: string, run: FollowedRun, print: Terminal['print']): number {
  const end = run.endOf(id);
  const hasChildren = run.childrenOf(id).length > 0;
  if (hasChildren || end === undefined) print(treeText(id, run, new Map(), undefined));
  else {
    print(endLine(end.record, end.envelope));
    if (end.record.end === 'failed') for (const line of errorLines(end.envelope)) print(`  ${line}`);
  }
  return allOf(id, run).every((one) => run.endOf(one)?.record.end === 'succeeded') ? EXIT.ok : EXIT.failed;
}

function allOf(id: string, run: FollowedRun): readonly string[] {
  return [id, ...run.childrenOf(id).flatMap((child) => allOf(child, run))];
}
