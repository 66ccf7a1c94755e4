import type { DeriveId } from '../../core/envelope/decode.ts';
import type { Failure } from '../../core/failure/failure.ts';
import type { Archive } from '../../ports/archive.ts';
import type { Clock } from '../../ports/clock.ts';
import type { FailureIndex } from '../../ports/failure-index.ts';
import type { Reply } from '../../ports/reply.ts';
import { prepareReplay, type ReplaySettings } from './prepare-replay.ts';
import { type UnreachableTarget, unreachableTarget } from './replay-targets.ts';

export interface ReplayOneOptions extends ReplaySettings {
  /** Also send failures that were replayed before. */
  readonly again: boolean;
}

export interface ReplayOneDeps {
  readonly archive: Archive;
  readonly failures: FailureIndex;
  /** Sends to an actor's queue. */
  readonly send: (actor: string, body: string) => Promise<Reply>;
  readonly clock: Clock;
  readonly deriveId: DeriveId;
}

/** A failure that was not sent, and why. `target` is set if nothing can be sent to that target at all. */
export interface Skipped extends Partial<UnreachableTarget> {
  readonly failure: Failure;
  readonly problem: string;
  readonly isReplayedBefore?: true;
}

export type ReplayOneEnd =
  | { readonly kind: 'sent'; readonly to: string }
  | { readonly kind: 'skipped'; readonly skipped: Omit<Skipped, 'failure'> }
  /** The broker refused the send: nothing more is sent to that target. */
  | { readonly kind: 'target-refused'; readonly target: UnreachableTarget }
  /** A store refused: nothing more is sent at all. */
  | { readonly kind: 'refused'; readonly problem: string };

/**
 * Sends one failed envelope again. The failure index notes the replay before the send, so that two operators cannot both
 * send it by accident. If the send is refused, the note is withdrawn.
 */
export async function replayOne(
  failure: Failure,
  options: ReplayOneOptions,
  { archive, failures, clock, deriveId, send }: ReplayOneDeps,
): Promise<ReplayOneEnd> {
  const before = options.again ? undefined : replayedBefore(failure);
  if (before !== undefined) return { kind: 'skipped', skipped: { problem: before, isReplayedBefore: true } };
  const prepared = await prepareReplay(failure, options, archive, clock.now(), deriveId);
  if ('problem' in prepared) {
    const { problem, isStoreDown } = prepared;
    return isStoreDown ? { kind: 'refused', problem } : { kind: 'skipped', skipped: { problem } };
  }
  const note = { replay: options.replay, atMs: clock.now(), to: prepared.to };
  const noted = await failures.recordReplay(failure.identity, note, options.again);
  if (!noted.ok) {
    const { problem } = noted;
    switch (noted.why) {
      case 'already-replayed':
        return {
          kind: 'skipped',
          skipped: { problem: `${problem}, by another replay just now`, isReplayedBefore: true },
        };
      case 'gone':
        return { kind: 'skipped', skipped: { problem } };
      case undefined: {
        // The note may be stored even though the reply was lost. If it stayed, no later replay would send the failure.
        const { ok } = await failures.removeReplay(failure.identity, options.replay);
        const also = ok ? '' : `; ${failure.envelopeId} was not sent, but the index may list it as replayed`;
        return { kind: 'refused', problem: `${problem}${also}` };
      }
    }
  }
  const reply = await send(prepared.to, prepared.body);
  if (reply.ok) return { kind: 'sent', to: prepared.to };
  const withdrawn = await failures.removeReplay(failure.identity, options.replay);
  if (withdrawn.ok) return { kind: 'target-refused', target: unreachableTarget(prepared.to, reply) };
  const also = `; removing the replay from the failure index failed too: ${withdrawn.problem}`;
  return { kind: 'refused', problem: notSentText(failure, `${reply.problem}${also}`) };
}

export function notSentText({ envelopeId }: Failure, problem: string): string {
  return `${envelopeId} could not be sent: ${problem}`;
}

/** Undefined: it was not replayed before. */
export function replayedBefore({ replays }: Failure): string | undefined {
  const last = replays.at(-1);
  return last === undefined ? undefined : `it was replayed before (${last.replay})`;
}
