import { isActorName, isCrewName } from '../../core/envelope/actor-name.ts';
import type { DeriveId } from '../../core/envelope/decode.ts';
import type { Failure } from '../../core/failure/failure.ts';
import type { EndRecord } from '../../core/failure/record.ts';
import { defined } from '../../core/text/defined.ts';
import type { Archive } from '../../ports/archive.ts';
import type { Clock } from '../../ports/clock.ts';
import type { EndRecords } from '../../ports/end-records.ts';
import type { FailureIndex } from '../../ports/failure-index.ts';
import type { Reply } from '../../ports/reply.ts';
import { type EndsOfReplay, endsOfReplay } from './ends-of-replay.ts';
import { type Prepared, prepareReplay, type ReplaySettings } from './prepare-replay.ts';
import {
  lookUpTargets,
  type Reach,
  type Stranded,
  strandedBy,
  type Targets,
  targetOf,
} from './replay-targets.ts';

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
  readonly reach: Reach;
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
    /** A store refused, or the broker refused every target that was left: see `problem`. */
    | 'refused';
  readonly problem?: string;
  readonly sent: readonly Failure[];
  readonly skipped: readonly Skipped[];
  readonly left: readonly Failure[];
  /** Of those sent, whose end is known and was no failure. */
  readonly endedWell: readonly Failure[];
  /** Of children of a fan-out too. */
  readonly failedAgain: readonly EndRecord[];
}

/** A failure that was not sent, and why. `target` is set if nothing can be sent to that target at all. */
export interface Skipped extends Partial<Stranded> {
  readonly failure: Failure;
  readonly problem: string;
  readonly isReplayedBefore?: true;
}

const LOOK_EVERY_MS = 500;

/**
 * Sends failed envelopes once more. Each is noted before it is sent, so that nobody sends it a second time by accident;
 * stage by stage, the ends of what was sent are waited for, and when one fails again nothing more is sent.
 *
 * A target whose queue is missing, or that the broker refuses, costs its own failures only: they are skipped and the
 * others are sent. If the broker refuses every target, the replay stops.
 */
export async function replayFailures(
  meant: readonly Failure[],
  options: ReplayOptions,
  tools: ReplayTools,
): Promise<ReplayEnd> {
  const targets = await targetsOf(meant, options, tools.reach);
  const stranded: ReadonlyMap<Failure, Stranded> = targets.ok ? targets.stranded : new Map();
  let failures = meant.filter((failure) => !stranded.has(failure));
  const sent: Failure[] = [];
  /** Targets that accepted a send and have not refused one since. */
  const accepting = new Set<string>();
  const skipped: Skipped[] = [...stranded].map(([failure, why]) => ({ failure, ...why }));
  const ends = endsOfReplay(options.replay, tools.records);
  let at = 0;
  let ended = 0;
  const tell = () =>
    tools.onProgress({ total: meant.length, sent: sent.length, skipped: skipped.length, ended });
  const end = (why: ReplayEnd['why'], problem?: string): ReplayEnd => {
    const failedAgain = ends.failedAgain();
    const failedIds = new Set(failedAgain.map(({ envelopeId }) => envelopeId));
    return {
      why,
      ...defined({ problem }),
      sent,
      skipped,
      left: failures.slice(at),
      endedWell: ends.ofSent(sent).filter(({ envelopeId }) => !failedIds.has(envelopeId)),
      failedAgain,
    };
  };

  const targetIfUnsent = (failure: Failure) =>
    isUnsent(failure, options) ? targetOf(failure, options.to) : undefined;
  /** Skips what was still to be sent to this target. False: it was refused, and no other target is left. */
  const strand = (current: Failure, why: Stranded): boolean => {
    accepting.delete(why.target);
    const { own = [], others = [] } = Object.groupBy(failures.slice(at), (failure) =>
      failure === current || targetIfUnsent(failure) === why.target ? 'own' : 'others',
    );
    const hasOtherTarget =
      accepting.size > 0 || others.some((failure) => isActorName(targetIfUnsent(failure)));
    if (!hasOtherTarget && why.isQueueMissing !== true) return false;
    skipped.push(...own.map((failure) => ({ failure, ...why })));
    failures = [...failures.slice(0, at), ...others];
    return true;
  };

  if (!targets.ok) return end('refused', targets.problem);
  for (let stage = 0; at < failures.length; stage++) {
    const size = options.stages?.at(Math.min(stage, options.stages.length - 1)) ?? failures.length;
    const before = sent.length;
    while (at < failures.length && sent.length < before + size) {
      if (tools.stop.aborted) return end('stopped');
      const failure = failures[at] as Failure;
      const outcome = await sendOne(failure, options, tools);
      if (outcome.kind === 'refused') return end('refused', outcome.problem);
      if (outcome.kind === 'stranded') {
        if (!strand(failure, outcome.stranded))
          return end('refused', notSentText(failure, outcome.stranded.problem));
        tell();
        continue;
      }
      at++;
      if (outcome.kind === 'sent') {
        sent.push(failure);
        accepting.add(outcome.to);
        if (isCrewName(outcome.to)) ends.expectAnyOf(failure);
      } else skipped.push({ failure, ...outcome.skipped });
      tell();
      if (outcome.kind === 'sent') await tools.clock.sleep(1000 / options.perSecond, tools.stop);
    }
    if (options.stages === undefined) continue;
    const waited = await untilEnded(sent.slice(before), ends, options.waitMs, tools, () => {
      ended = ends.ofSent(sent).length;
      tell();
    });
    if (waited.why !== 'ended') return end(waited.why, waited.problem);
  }
  return end('all-sent');
}

type SendOutcome =
  | { readonly kind: 'sent'; readonly to: string }
  | { readonly kind: 'skipped'; readonly skipped: Omit<Skipped, 'failure'> }
  /** The broker refused it: nothing more is sent to that target. */
  | { readonly kind: 'stranded'; readonly stranded: Stranded }
  /** A store refused: nothing more is sent at all. */
  | { readonly kind: 'refused'; readonly problem: string };

async function sendOne(failure: Failure, options: ReplayOptions, tools: ReplayTools): Promise<SendOutcome> {
  const { archive, failures, clock, deriveId, send } = tools;
  const before = options.again ? undefined : replayedBefore(failure);
  if (before !== undefined) return { kind: 'skipped', skipped: { problem: before, isReplayedBefore: true } };
  const prepared: Prepared = await prepareReplay(failure, options, archive, clock.now(), deriveId);
  if ('problem' in prepared) {
    const { problem, isStoreDown } = prepared;
    return isStoreDown ? { kind: 'refused', problem } : { kind: 'skipped', skipped: { problem } };
  }
  const note = { replay: options.replay, atMs: clock.now(), to: prepared.to };
  const noted = await failures.noteReplay(failure.identity, note, options.again);
  if (!noted.ok) {
    const { problem } = noted;
    switch (noted.why) {
      case 'already-replayed':
        return {
          kind: 'skipped',
          skipped: { problem: `${problem}, by somebody else just now`, isReplayedBefore: true },
        };
      case 'gone':
        return { kind: 'skipped', skipped: { problem } };
      case undefined: {
        // Perhaps only the answer was lost: a note that stayed would keep it from ever being sent.
        const { ok } = await failures.withdrawReplay(failure.identity, options.replay);
        const also = ok ? '' : `; ${failure.envelopeId} may be noted as replayed, and was not sent`;
        return { kind: 'refused', problem: `${problem}${also}` };
      }
    }
  }
  const reply = await send(prepared.to, prepared.body);
  if (reply.ok) return { kind: 'sent', to: prepared.to };
  const withdrawn = await failures.withdrawReplay(failure.identity, options.replay);
  if (withdrawn.ok) return { kind: 'stranded', stranded: strandedBy(prepared.to, reply) };
  const also = `; and its note could not be taken back: ${withdrawn.problem}`;
  return { kind: 'refused', problem: notSentText(failure, `${reply.problem}${also}`) };
}

function notSentText({ envelopeId }: Failure, problem: string): string {
  return `${envelopeId} could not be sent: ${problem}`;
}

/** Of what would be sent: what was replayed before needs no queue. */
export function targetsOf(
  failures: readonly Failure[],
  options: ReplayOptions,
  reach: Reach,
): Promise<Targets> {
  const unsent = failures.filter((failure) => isUnsent(failure, options));
  return lookUpTargets(unsent, options.to, reach);
}

function isUnsent(failure: Failure, { again }: ReplayOptions): boolean {
  return again || replayedBefore(failure) === undefined;
}

/** Undefined: it was not. */
export function replayedBefore({ replays }: Failure): string | undefined {
  const last = replays.at(-1);
  return last === undefined ? undefined : `it was replayed before (${last.replay})`;
}

type Waited =
  | { readonly why: 'ended'; readonly problem?: undefined }
  | { readonly why: 'failed-again' | 'no-end' | 'stopped' | 'refused'; readonly problem?: string };

/** Until everything sent has ended; the first that fails again is enough to know. */
async function untilEnded(
  sent: readonly Failure[],
  ends: EndsOfReplay,
  waitMs: number,
  { clock, stop }: ReplayTools,
  onLooked: () => void,
): Promise<Waited> {
  const givesUpAt = clock.now() + waitMs;
  for (;;) {
    const problem = await ends.look();
    if (problem !== undefined) return { why: 'refused', problem };
    onLooked();
    if (ends.failedAgain().length > 0) return { why: 'failed-again' };
    const missing = sent.length - ends.ofSent(sent).length;
    if (missing === 0) return { why: 'ended' };
    if (stop.aborted) return { why: 'stopped' };
    if (clock.now() >= givesUpAt) return { why: 'no-end', problem: `${missing} of those sent have no end` };
    await clock.sleep(LOOK_EVERY_MS, stop);
  }
}
