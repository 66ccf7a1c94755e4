import pc from 'picocolors';
import { deriveId } from '../adapters/system/system.ts';
import type { Stores } from '../assembly/crew-from-config.ts';
import { decode } from '../core/decode.ts';
import type { Envelope } from '../core/envelope.ts';
import { errorOf, type Failure, type ReplayNote } from '../core/failure.ts';
import { isFields } from '../core/fields.ts';
import type { EndRecord } from '../core/record.ts';
import { failureJson } from './failure-output.ts';
import { oneLine } from './table.ts';
import { whenText } from './times.ts';

export interface Shown {
  readonly text: string;
  readonly json: unknown;
}

/** One screen about one failed envelope: whoever is woken at night should need no second. */
export async function showFailure(
  failure: Failure,
  earlier: readonly Failure[],
  { archive, records }: Stores,
  now: number,
  withPayload: boolean,
): Promise<Shown> {
  const kept = await archive.get(failure.archiveKey);
  const text = kept.ok ? kept.text : undefined;
  const envelope = text === undefined ? undefined : readKept(text, failure);
  const trouble = kept.ok ? 'the archive has nothing under this key any more' : kept.problem;
  const ends = await records.ofEnvelope(failure.envelopeId);
  const endOfReplay = (replay: string) =>
    ends.ok ? ends.records.find((record) => record.replay === replay) : undefined;
  const lines = [
    `${pc.bold(oneLine(failure.envelopeId))}  ${pc.red('failed')} at ${pc.bold(failure.actor)} · ${failure.reason} · ${attemptsText(failure, envelope)}`,
    '',
    ...(envelope === undefined
      ? [row('envelope', pc.yellow(trouble))]
      : [row('route', routeText(envelope, failure))]),
    row('failed', whenText(failure.lastSeenMs, now)),
    row('first seen', whenText(failure.firstSeenMs, now)),
    ...deadlineRow(envelope),
    ...(failure.flow === undefined ? [] : [row('flow', oneLine(failure.flow))]),
    ...(failure.task === undefined ? [] : [row('task', oneLine(failure.task))]),
    row('group', failure.fingerprint),
    row('decided by', decidedText(envelope, failure)),
    ...errorRows(failure, envelope),
    row('archive', failure.archiveKey),
    ...(failure.replay === undefined ? [] : [row('part of', `replay ${failure.replay}`)]),
    ...replayRows(failure.replays, endOfReplay, now),
    ...(earlier.length === 0 ? [] : [row('earlier', earlier.map((one) => earlierText(one, now)).join('; '))]),
    ...(withPayload && envelope !== undefined ? ['', 'payload', envelope.payload] : []),
    ...(failure.replays.length > 0
      ? []
      : ['', pc.dim(`replay it: asya replay ${oneLine(failure.envelopeId)} --go`)]),
  ];
  return {
    text: lines.join('\n'),
    json: {
      ...failureJson(failure),
      ...(envelope === undefined ? { trouble } : { route: envelope.route, status: envelope.status }),
      ...(withPayload && envelope !== undefined ? { payload: JSON.parse(envelope.payload) as unknown } : {}),
      earlier: earlier.map(failureJson),
    },
  };
}

/** What is kept may be of an older version or an unreadable one: as much of it as can be told. */
function readKept(text: string, { actor, identity }: Failure): Envelope {
  return decode(text, { actor, messageId: identity, deriveId }).envelope;
}

function row(name: string, value: string): string {
  return `${pc.dim(name.padEnd(11))} ${value}`;
}

function attemptsText({ attempts }: Failure, envelope: Envelope | undefined): string {
  const most = envelope?.status?.max_attempts;
  const count = `${attempts}${typeof most === 'number' ? ` of ${most}` : ''}`;
  return `${count} attempt${attempts === 1 && typeof most !== 'number' ? '' : 's'}`;
}

function routeText({ route }: Envelope, { actor }: Failure): string {
  const passed = route.prev.map((name) => `${name} ${pc.green('✓')}`);
  const here = [`${pc.bold(actor)} ${pc.red('✗')}`];
  return [...passed, ...here, ...route.next].join(' → ');
}

function deadlineRow(envelope: Envelope | undefined): readonly string[] {
  const deadline = envelope?.status?.deadline_at;
  return deadline === undefined ? [] : [row('deadline', deadline)];
}

function decidedText(envelope: Envelope | undefined, { reason }: Failure): string {
  const by = envelope?.status?.decided_by;
  if (!isFields(by)) return REASONS[reason] ?? 'no policy: none covered it';
  const { policy, rule } = by;
  return `policy "${oneLine(String(policy))}", ${typeof rule === 'number' ? `named by rule ${rule + 1}` : 'the default: no rule matched'}`;
}

/** Ends that no policy is asked about. */
const REASONS: Readonly<Record<string, string>> = {
  Timeout: 'the deadline (SLA)',
  ActorTimeout: "the actor's timeout; no rule takes it",
  ParseError: 'admission: it could not be read',
  ValidationError: 'admission, or a handler that broke the rules',
  RouteMismatch: 'admission: it was at the wrong actor',
  DeliveryExhausted: 'the broker: received again and again, never acked',
};

const TRACEBACK_LINES = 12;

function errorRows({ errorType, errorMessage }: Failure, envelope: Envelope | undefined): readonly string[] {
  const { message, traceback } =
    envelope === undefined ? { message: errorMessage, traceback: '' } : errorOf(envelope);
  const lines = traceback
    .trimEnd()
    .split('\n')
    .map((line) => line.replace(/\p{Cc}/gu, ' '));
  const end = lines.slice(-TRACEBACK_LINES);
  const cut =
    lines.length > end.length ? [pc.dim(`            … ${lines.length - end.length} lines before`)] : [];
  return [
    row('error', `${pc.bold(oneLine(errorType))}: ${oneLine(message, 500)}`),
    ...(traceback === '' ? [] : [...cut, ...end.map((line) => `            ${line}`)]),
  ];
}

function replayRows(
  replays: readonly ReplayNote[],
  endOf: (replay: string) => EndRecord | undefined,
  now: number,
): readonly string[] {
  return replays.map(({ replay, atMs, to }) => {
    const end = endOf(replay);
    const fate =
      end === undefined
        ? pc.yellow('no end yet')
        : end.end === 'succeeded'
          ? pc.green(end.end)
          : pc.red(end.end);
    return row('replayed', `${whenText(atMs, now)} to ${to}, ${replay}: ${fate}`);
  });
}

function earlierText({ reason, actor, lastSeenMs }: Failure, now: number): string {
  return `${reason} at ${actor}, ${whenText(lastSeenMs, now)}`;
}
