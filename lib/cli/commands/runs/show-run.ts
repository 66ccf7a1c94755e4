import { deriveId } from '../../../adapters/system/system.ts';
import { followRun, type RunEnd } from '../../../app/runs/follow-run.ts';
import type { Envelope } from '../../../core/envelope/envelope.ts';
import { placeFromKey } from '../../../core/failure/archive-batch.ts';
import type { Failure } from '../../../core/failure/failure.ts';
import { failureState } from '../../../core/failure/failure-state.ts';
import type { EndRecord } from '../../../core/failure/record.ts';
import { EXIT } from '../../exit-status.ts';
import { type Operator, withOperator } from '../../operator.ts';
import { envelopeId, tooShortText } from '../../options/find-id.ts';
import { colors as pc } from '../../output/colors.ts';
import { endLine, errorLines } from '../../output/error-lines.ts';
import { failureJson } from '../../output/failure-output.ts';
import { missingText } from '../../output/missing-text.ts';
import { escaped, jsonOutput, oneLine, shellWord } from '../../output/plain-text.ts';
import { taskEventLines } from '../../output/task-events.ts';
import type { Terminal } from '../../output/terminal.ts';
import { whenText } from '../../output/times.ts';
import { treeLines } from '../watch/run-tree.ts';
import { runJson } from './run-runs.ts';

interface ShowOptions {
  readonly payload?: boolean;
  readonly json?: boolean;
  readonly mesh?: string;
}

/** Rounds of lookups, each of up to 25 children. Later children are only counted. */
const MAX_ROUNDS = 8;

/** `asya runs show`: one run, with its fan-out children. */
export function runRunsShow(terminal: Terminal, options: ShowOptions, id: string): Promise<number> {
  return withOperator(terminal, options, (operator) => showRun(id, operator, options, terminal));
}

async function showRun(
  typed: string,
  { stores, config }: Operator,
  options: ShowOptions,
  { print, printError, now }: Terminal,
): Promise<number> {
  const fail = (problem: string): number => {
    printError(`asya: ${oneLine(problem)}`);
    return EXIT.failed;
  };
  const full = await envelopeId(typed, stores);
  if (!full.ok) return fail(full.problem);
  const { id } = full;
  const ends = await stores.records.ofEnvelope(id);
  if (!ends.ok) return fail(ends.problem);
  const failures = await stores.failures.ofEnvelope(id);
  if (!failures.ok) return fail(failures.problem);
  const [newest, ...earlier] = ends.records;
  if (newest === undefined) {
    const [failure] = failures.failures;
    return fail(
      failure === undefined
        ? `no end of envelope "${id}" is stored${tooShortText(id) || `; if it is still on its way, asya watch ${shellWord(oneLine(id))} follows it`}`
        : `the end record of envelope "${id}" has expired; asya failures show ${shellWord(oneLine(id))} shows its failure`,
    );
  }
  const run = followRun(id, { ...stores, deriveId, now });
  for (let round = 0; round < MAX_ROUNDS && run.open().length > 0; round++) {
    const found = await run.refresh();
    if (!found.ok) return fail(found.problem);
    if (found.ends.length === 0) break;
  }
  const end = run.endOf(id);
  const children = run.childrenOf(id);
  const events = await taskEventLines(newest.task, stores.tasks);
  const bucket = config.storage.bucket ?? '';
  if (options.json) {
    print(
      jsonOutput(
        {
          ...runJson(newest),
          ...(end?.envelope !== undefined && { route: end.envelope.route, status: end.envelope.status }),
          bucket,
          children: children.map((child) => childJson(child, run.endOf(child))),
          earlier: earlier.map(runJson),
          failures: failures.failures.map(failureJson),
          ...(events.length === 0 ? {} : { taskEvents: events }),
        },
        options.payload ? end?.envelope?.payload : undefined,
      ),
    );
    return EXIT.ok;
  }
  const lines = [
    `${pc.bold(oneLine(id))}  ${colored(newest, endLine(newest, end?.envelope))}`,
    '',
    ...(end?.envelope === undefined
      ? [row('envelope', pc.yellow(missingText(newest)))]
      : [row('route', routeText(newest, end.envelope)), ...timeRows(newest, end.envelope, now())]),
    row('ended', whenText(newest.atMs, now())),
    ...optionalRow('flow', newest.flow),
    ...optionalRow('task', newest.task),
    ...events.map((line) => row('', line)),
    ...optionalRow('parent', newest.parentId),
    ...(newest.replay === undefined ? [] : [row('part of', `replay ${oneLine(newest.replay)}`)]),
    ...errorRows(end),
    ...(children.length === 0
      ? []
      : treeLines(id, run, () => undefined)
          .slice(end?.record.end === 'failed' ? 1 + errorLines(end.envelope).length : 1)
          .map((line, at) => row(at === 0 ? 'children' : '', line))),
    ...replayRows(failures.failures, now()),
    ...earlier.map((one) => row('earlier', `${endLine(one)}, ${whenText(one.atMs, now())}`)),
    ...archiveRows(newest, bucket),
    ...payloadRows(end, options),
  ];
  print(lines.join('\n'));
  return EXIT.ok;
}

function row(name: string, value: string): string {
  return `${pc.dim(name.padEnd(11))} ${value}`;
}

function optionalRow(name: string, value: string | undefined): readonly string[] {
  return value === undefined ? [] : [row(name, oneLine(value, 100))];
}

function colored({ end }: EndRecord, text: string): string {
  return end === 'succeeded' ? pc.green(text) : pc.red(text);
}

/** An envelope in a batch has its own key inside the object. */
function archiveRows({ archiveKey }: EndRecord, bucket: string): readonly string[] {
  if (archiveKey === undefined) return [];
  const { batch, key } = placeFromKey(archiveKey);
  return batch === undefined
    ? [row('archive', `s3://${bucket}/${key}`)]
    : [row('archive', `s3://${bucket}/${batch}`), row('', `as "${key}"`)];
}

function routeText(record: EndRecord, { route }: Envelope): string {
  const { prev, curr, next } = route;
  const passed = prev.map((name) => `${name} ${pc.green('✓')}`);
  if (curr === '') return passed.join(' → ');
  const mark = record.end === 'succeeded' ? pc.green('✓') : pc.red('✗');
  return [...passed, `${pc.bold(oneLine(record.actor, 63))} ${mark}`, ...next].join(' → ');
}

/** When its last actor's first attempt began. */
function timeRows(record: EndRecord, { status }: Envelope, now: number): readonly string[] {
  const { created_at: createdAt, deadline_at: deadlineAt } = status ?? {};
  const startedMs = createdAt === undefined ? Number.NaN : Date.parse(createdAt);
  return [
    ...(Number.isNaN(startedMs)
      ? []
      : [
          row(
            'last actor',
            `${oneLine(record.actor, 63)}, since ${whenText(startedMs, now)}, for ${record.atMs - startedMs} ms`,
          ),
        ]),
    ...optionalRow('deadline', deadlineAt),
  ];
}

function errorRows(end: RunEnd | undefined): readonly string[] {
  if (end === undefined || end.record.end !== 'failed') return [];
  return errorLines(end.envelope).map((line, at) => row(at === 0 ? 'error' : '', line));
}

function replayRows(failures: readonly Failure[], now: number): readonly string[] {
  return failures.flatMap((failure) => [
    row(
      'failure',
      `${failureState(failure)}, ${whenText(failure.lastSeenMs, now)}, group ${failure.fingerprint}`,
    ),
    ...failure.replays.map(({ replay, atMs, to, end }) => {
      const outcome = failure.resolved?.replay === replay ? 'succeeded' : (end ?? 'not ended yet');
      return row('', `replayed ${whenText(atMs, now)} to ${oneLine(to, 63)}, ${oneLine(replay)}: ${outcome}`);
    }),
  ]);
}

function payloadRows(end: RunEnd | undefined, { payload }: ShowOptions): readonly string[] {
  if (end?.envelope === undefined) return [];
  const text = end.envelope.payload;
  return payload
    ? ['', 'payload', escaped(text)]
    : [row('payload', `${Buffer.byteLength(text)} bytes; --payload prints it`)];
}

function childJson(id: string, end: RunEnd | undefined): unknown {
  return end === undefined ? { id } : runJson(end.record);
}
