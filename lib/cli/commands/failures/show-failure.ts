import { deriveId } from '../../../adapters/system/system.ts';
import type { Stores } from '../../../assembly/from-config/crew-from-config.ts';
import { decode } from '../../../core/envelope/decode.ts';
import type { Envelope } from '../../../core/envelope/envelope.ts';
import { errorOf, type Failure, type ReplayEntry } from '../../../core/failure/failure.ts';
import type { EndRecord } from '../../../core/failure/record.ts';
import type { Archive } from '../../../ports/archive.ts';
import type { Ends } from '../../../ports/end-records.ts';
import { colors as pc } from '../../output/colors.ts';
import { countText } from '../../output/count-text.ts';
import { decidedByText } from '../../output/decided-by-text.ts';
import { failureJson } from '../../output/failure-output.ts';
import { attemptOf, endReasonText } from '../../output/failure-reason.ts';
import { escaped, jsonOutput, oneLine, plainLines, shellWord } from '../../output/plain-text.ts';
import { taskEventLines } from '../../output/task-events.ts';
import { whenText } from '../../output/times.ts';

/** One failed envelope, as text and as JSON. */
export interface FailureReport {
  readonly text: string;
  readonly json: string;
}

/** All that an operator needs to know about one failed envelope, on one screen. */
export async function showFailure(
  failure: Failure,
  earlier: readonly Failure[],
  { archive, records, tasks }: Stores,
  now: number,
  withPayload: boolean,
): Promise<FailureReport> {
  const archived = await readArchived(failure, archive);
  const ends = await records.ofEnvelope(failure.envelopeId);
  const envelope = 'envelope' in archived ? archived.envelope : undefined;
  const { flow, task, replay } = failure;
  const events = await taskEventLines(task, tasks);
  const lines = [
    titleText(failure, envelope),
    '',
    ...('problem' in archived
      ? [row('envelope', pc.yellow(oneLine(archived.problem)))]
      : [row('route', routeText(archived.envelope, failure))]),
    row('failed', whenText(failure.lastSeenMs, now)),
    row('first seen', whenText(failure.firstSeenMs, now)),
    ...deadlineRow(envelope),
    ...(flow === undefined ? [] : [row('flow', named(flow))]),
    ...(task === undefined ? [] : [row('task', named(task))]),
    ...events.map((line) => row('', line)),
    row('group', failure.fingerprint),
    row('decided by', decidedByText(envelope, failure)),
    ...errorRows(failure, envelope),
    row('archive', failure.archiveKey),
    ...(replay === undefined ? [] : [row('part of', `replay ${named(replay)}`)]),
    ...replayRows(failure, ends, now),
    ...resolvedRow(failure, now),
    ...earlier.map((one) => row('earlier', earlierText(one, now))),
    ...payloadRows(envelope, withPayload),
    ...hintRows(failure),
  ];
  return {
    text: lines.join('\n'),
    json: jsonOutput(
      {
        ...failureJson(failure),
        ...('problem' in archived
          ? { problem: archived.problem }
          : { route: archived.envelope.route, status: archived.envelope.status }),
        replays: replaysJson(failure, ends),
        ...(events.length === 0 ? {} : { taskEvents: events }),
        earlier: earlier.map(failureJson),
      },
      withPayload ? envelope?.payload : undefined,
    ),
  };
}

type Archived = { readonly envelope: Envelope } | { readonly problem: string };

async function readArchived({ actor, identity, archiveKey }: Failure, archive: Archive): Promise<Archived> {
  const found = await archive.get(archiveKey);
  if (!found.ok) return { problem: found.problem };
  if (found.text === undefined) return { problem: 'the archive no longer contains this key' };
  const arrival = decode(found.text, { actor, messageId: identity, deriveId });
  return arrival.kind === 'unreadable'
    ? { problem: `the archived envelope cannot be read: ${arrival.problem}` }
    : { envelope: arrival.envelope };
}

function row(name: string, value: string): string {
  return `${pc.dim(name.padEnd(11))} ${value}`;
}

const MAX_NAME = 100;

function named(text: string): string {
  return oneLine(text, MAX_NAME);
}

function titleText(failure: Failure, envelope: Envelope | undefined): string {
  const { envelopeId, actor, reason, attempts } = failure;
  const where = `${pc.red('failed')} at ${pc.bold(named(actor))} · ${named(endReasonText(reason, attempts, envelope))}`;
  return `${pc.bold(oneLine(envelopeId))}  ${where} · ${attemptOf(attempts, envelope)}`;
}

function routeText({ route }: Envelope, { actor }: Failure): string {
  const passed = route.prev.map((name) => `${name} ${pc.green('✓')}`);
  const here = `${pc.bold(named(actor))} ${pc.red('✗')}`;
  const addressee = route.curr !== '' && route.curr !== actor ? ` (route.curr is ${route.curr})` : '';
  return [...passed, `${here}${addressee}`, ...route.next].join(' → ');
}

function deadlineRow(envelope: Envelope | undefined): readonly string[] {
  const deadline = envelope?.status?.deadline_at;
  return deadline === undefined ? [] : [row('deadline', named(deadline))];
}

const TRACEBACK_LINES = 12;
const MAX_LINE = 200;
const INDENT = ' '.repeat(12);

function errorRows({ errorType, errorMessage }: Failure, envelope: Envelope | undefined): readonly string[] {
  const { message, traceback } =
    envelope === undefined ? { message: errorMessage, traceback: '' } : errorOf(envelope);
  const lines = traceback === '' ? [] : plainLines(traceback);
  const end = lines.slice(-TRACEBACK_LINES);
  const earlier = lines.length - end.length;
  return [
    row('error', `${pc.bold(named(errorType))}: ${oneLine(message, 500)}`),
    ...(earlier > 0 ? [pc.dim(`${INDENT}… ${countText(earlier, 'earlier line')}`)] : []),
    ...end.map((line) => `${INDENT}${line.length > MAX_LINE ? `${line.slice(0, MAX_LINE)}…` : line}`),
  ];
}

function replayRows({ replays, resolved }: Failure, ends: Ends, now: number): readonly string[] {
  return replays.map((entry) => {
    const { replay, atMs, to } = entry;
    const outcome = resolved?.replay === replay ? pc.green('succeeded') : outcomeText(entry, ends);
    return row('replayed', `${whenText(atMs, now)} to ${named(to)}, ${named(replay)}: ${outcome}`);
  });
}

function resolvedRow({ resolved }: Failure, now: number): readonly string[] {
  if (resolved === undefined) return [];
  return [row('resolved', `${whenText(resolved.atMs, now)} by replay ${named(resolved.replay)}`)];
}

function outcomeText({ replay, end: knownEnd }: ReplayEntry, ends: Ends): string {
  if (!ends.ok) return pc.yellow(`unknown: ${oneLine(ends.problem)}`);
  const record = endOfReplay(replay, ends.records);
  // End records expire, the failure does not.
  if (record === undefined) return knownEnd === undefined ? pc.yellow('not ended yet') : pc.red(knownEnd);
  const { end, actor } = record;
  return end === 'succeeded' ? pc.green(end) : pc.red(`${end} at ${named(actor)}`);
}

function endOfReplay(replay: string, records: readonly EndRecord[]): EndRecord | undefined {
  return records.find((record) => record.replay === replay);
}

function replaysJson(failure: Failure, ends: Ends): unknown {
  const { replays } = failureJson(failure);
  return replays.map((note) => {
    const end = ends.ok ? endOfReplay(note.replay, ends.records)?.end : undefined;
    return end === undefined ? note : { ...note, end };
  });
}

function earlierText({ reason, actor, lastSeenMs }: Failure, now: number): string {
  return `${named(reason)} at ${named(actor)}, ${whenText(lastSeenMs, now)}`;
}

function payloadRows(envelope: Envelope | undefined, withPayload: boolean): readonly string[] {
  if (envelope === undefined) return [];
  if (withPayload) return ['', 'payload', escaped(envelope.payload)];
  return [row('payload', `${Buffer.byteLength(envelope.payload)} bytes; --payload prints it`)];
}

/** Commands to paste. An id with control characters cannot be pasted, so it gets no replay command. */
function hintRows({ envelopeId, fingerprint, replays }: Failure): readonly string[] {
  if (replays.length > 0) return [];
  const isPlain = oneLine(envelopeId) === envelopeId;
  return [
    '',
    ...(isPlain ? [pc.dim(`replay it:  asya replay ${replayArguments(envelopeId)}`)] : []),
    pc.dim(`its group:  asya replay --group ${fingerprint}`),
  ];
}

/** After `--` everything is an id, even `--go`. */
function replayArguments(id: string): string {
  return id.startsWith('-')
    ? `-- ${shellWord(id)}   (put --go before the -- to send it)`
    : `${shellWord(id)}   (add --go to send it)`;
}
