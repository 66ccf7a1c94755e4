import { isCrewName } from '../core/actor-name.ts';
import type { DeriveId } from '../core/decode.ts';
import type { Failure } from '../core/failure.ts';
import type { EndRecord } from '../core/record.ts';
import type { Archive } from '../ports/archive.ts';
import type { Clock } from '../ports/clock.ts';
import type { EndRecords } from '../ports/end-records.ts';
import type { FailureIndex } from '../ports/failure-index.ts';
import type { Reply } from '../ports/transport.ts';
import { type Prepared, prepareReplay, type ReplaySettings } from './prepare-replay.ts';

export interface ReplayOptions extends ReplaySettings {
  /** Also what was replayed before. */
  readonly again: boolean;
  readonly perSecond: number;
  /** How many are sent before their ends are waited for, stage by stage; the last number goes on. Undefined: no waiting. */
  readonly stages?: readonly [number, ...number[]];
  /** How long the ends of a stage are waited for. */
  readonly waitMs: number;
}

export interface ReplayTools {
  readonly archive: Archive;
  readonly failures: FailureIndex;
  readonly records: EndRecords;
  /** To an actor's queue. */
  readonly send: (actor: string, body: string) => Promise<Reply>;
  readonly clock: Clock;
  readonly deriveId: DeriveId;
  /** Aborts when somebody has had enough: nothing more is sent then. */
  readonly stop: AbortSignal;
  readonly onProgress: (progress: ReplayProgress) => void;
}

export interface ReplayProgress {
  readonly total: number;
  readonly sent: number;
  readonly skipped: number;
  /** Of those sent, whose end is known. */
  readonly ended: number;
}

export interface ReplayEnd {
  readonly why:
    | 'all-sent'
    /** Some failed again: the stages after are not sent. */
    | 'failed-again'
    /** Some had no end within the wait. */
    | 'no-end'
    | 'stopped'
    /** The broker or a store refused: the problem tells. */
    | 'refused';
  readonly problem?: string;
  readonly sent: readonly Failure[];
  /** What could not be sent, and why. */
  readonly skipped: readonly { readonly failure: Failure; readonly problem: string }[];
  readonly left: readonly Failure[];
  /** Ends that are known, of children too. */
  readonly ends: readonly EndRecord[];
}

const LOOK_EVERY_MS = 500;
/** Ends are dated by the clock of whoever ended them. */
const CLOCKS_DIFFER_MS = 300_000;

/**
 * Sends failed envelopes once more. Each is noted before it is sent, so that nobody sends it a second time by accident;
 * stage by stage, the ends of what was sent are waited for, and when one fails again nothing more is sent.
 */
export async function replayFailures(
  failures: readonly Failure[],
  options: ReplayOptions,
  tools: ReplayTools,
): Promise<ReplayEnd> {
  const sent: Failure[] = [];
  const skipped: { failure: Failure; problem: string }[] = [];
  const ends = new Map<string, EndRecord>();
  let at = 0;
  let ended = 0;
  const tell = () =>
    tools.onProgress({ total: failures.length, sent: sent.length, skipped: skipped.length, ended });
  const end = (why: ReplayEnd['why'], problem?: string): ReplayEnd => ({
    why,
    ...(problem === undefined ? {} : { problem }),
    sent,
    skipped,
    left: failures.slice(at),
    ends: [...ends.values()],
  });

  for (let stage = 0; at < failures.length; stage++) {
    const size = options.stages?.at(Math.min(stage, options.stages.length - 1)) ?? failures.length;
    const before = sent.length;
    const beganAt = tools.clock.now();
    while (at < failures.length && sent.length < before + size) {
      if (tools.stop.aborted) return end('stopped');
      const failure = failures[at] as Failure;
      const outcome = await sendOne(failure, options, tools);
      if (outcome.kind === 'refused') return end('refused', outcome.problem);
      at++;
      if (outcome.kind === 'sent') sent.push(failure);
      else skipped.push({ failure, problem: outcome.problem });
      tell();
      if (outcome.kind === 'sent') await tools.clock.sleep(1000 / options.perSecond, tools.stop);
    }
    if (options.stages === undefined) continue;
    const waited = await untilEnded(sent.slice(before), beganAt, options, tools, (seen) => {
      for (const record of seen) ends.set(record.identity, record);
      ended = countEnded(sent, ends);
      tell();
    });
    if (waited.why !== 'ended') return end(waited.why, waited.problem);
  }
  return end('all-sent');
}

type SendOutcome =
  | { readonly kind: 'sent' }
  | { readonly kind: 'skipped'; readonly problem: string }
  | { readonly kind: 'refused'; readonly problem: string };

async function sendOne(failure: Failure, options: ReplayOptions, tools: ReplayTools): Promise<SendOutcome> {
  const { archive, failures, clock, deriveId, send } = tools;
  if (failure.replays.length > 0 && !options.again)
    return { kind: 'skipped', problem: replayedBefore(failure) };
  const prepared: Prepared = await prepareReplay(failure, options, archive, clock.now(), deriveId);
  if ('problem' in prepared) {
    return { kind: prepared.isStoreDown ? 'refused' : 'skipped', problem: prepared.problem };
  }
  const note = { replay: options.replay, atMs: clock.now(), to: prepared.to };
  const noted = await failures.noteReplay(failure.identity, note, options.again);
  if (!noted.ok) {
    return 'isAlreadyReplayed' in noted
      ? {
          kind: 'skipped',
          problem: `${noted.problem}, by somebody else just now; --again sends it once more`,
        }
      : { kind: 'refused', problem: noted.problem };
  }
  const reply = await send(prepared.to, prepared.body);
  if (reply.ok) return { kind: 'sent' };
  const withdrawn = await failures.withdrawReplay(failure.identity, options.replay);
  const also = withdrawn.ok ? '' : `; and its note could not be taken back: ${withdrawn.problem}`;
  return { kind: 'refused', problem: `${failure.envelopeId} could not be sent: ${reply.problem}${also}` };
}

export function replayedBefore({ replays }: Failure): string {
  const last = replays.at(-1);
  return `it was replayed before (${last?.replay}); --again sends it once more`;
}

type Waited =
  | { readonly why: 'ended'; readonly problem?: undefined }
  | { readonly why: 'failed-again' | 'no-end' | 'stopped' | 'refused'; readonly problem?: string };

/** Until everything sent has ended; the first that fails again is enough to know. */
async function untilEnded(
  sent: readonly Failure[],
  beganAtMs: number,
  { replay, waitMs }: ReplayOptions,
  { records, clock, stop }: ReplayTools,
  onSeen: (ends: readonly EndRecord[]) => void,
): Promise<Waited> {
  const givesUpAt = clock.now() + waitMs;
  // What goes back to the crew only gets the end that it had recorded, whichever that is.
  const crewBound = new Set(
    sent.filter(({ actor }) => isCrewName(actor)).map(({ envelopeId }) => envelopeId),
  );
  for (;;) {
    const seen = await records.ofReplay(replay, beganAtMs - CLOCKS_DIFFER_MS);
    if (!seen.ok) return { why: 'refused', problem: seen.problem };
    onSeen(seen.records);
    const again = seen.records.filter(
      ({ end, envelopeId }) => end === 'failed' && !crewBound.has(envelopeId),
    );
    if (again.length > 0) return { why: 'failed-again' };
    const known = new Map(seen.records.map((record) => [record.identity, record]));
    const missing = sent.length - countEnded(sent, known);
    if (missing === 0) return { why: 'ended' };
    if (stop.aborted) return { why: 'stopped' };
    if (clock.now() >= givesUpAt) {
      return {
        why: 'no-end',
        problem: `${missing} of those sent had no end within ${Math.round(waitMs / 1000)} s`,
      };
    }
    await clock.sleep(LOOK_EVERY_MS, stop);
  }
}

function countEnded(sent: readonly Failure[], ends: ReadonlyMap<string, EndRecord>): number {
  const ended = new Set([...ends.values()].map(({ envelopeId }) => envelopeId));
  return sent.filter(({ envelopeId }) => ended.has(envelopeId)).length;
}
