import { type DeriveId, decode } from '../../core/envelope/decode.ts';
import { encode } from '../../core/envelope/encode.ts';
import type { Envelope } from '../../core/envelope/envelope.ts';
import type { Failure } from '../../core/failure/failure.ts';
import { replayOf } from '../../core/failure/replay.ts';
import { defined } from '../../core/text/defined.ts';
import { applyPatch, type Operation } from '../../core/text/json-patch.ts';
import type { Archive } from '../../ports/archive.ts';
import type { UnreachableTarget } from './replay-targets.ts';

export interface ReplaySettings {
  /** The replay's id. */
  readonly replay: string;
  /** Send to this actor instead of the one that each failed at. */
  readonly to?: string;
  readonly patch?: readonly Operation[];
  /** The new time limit, counted from the replay. Undefined: no deadline. */
  readonly timeoutMsOf: (failure: Failure) => number | undefined;
  /** The largest body that the broker accepts. */
  readonly maxBodyBytes: number;
}

export type PreparedReplay =
  | { readonly failure: Failure; readonly to: string; readonly envelope: Envelope; readonly body: string }
  /** Why this failure cannot be sent. With `isStoreDown`, none can be sent. */
  | (Partial<UnreachableTarget> & {
      readonly failure: Failure;
      readonly problem: string;
      readonly isStoreDown?: true;
    });

/** Builds the envelope to send from the archived one. */
export async function prepareReplay(
  failure: Failure,
  settings: ReplaySettings,
  archive: Archive,
  now: number,
  deriveId: DeriveId,
): Promise<PreparedReplay> {
  const kept = await archive.get(failure.archiveKey);
  if (!kept.ok) return { failure, problem: kept.problem, isStoreDown: true };
  if (kept.text === undefined)
    return { failure, problem: `the archive no longer contains "${failure.archiveKey}"` };
  const arrival = decode(kept.text, { actor: failure.actor, messageId: failure.identity, deriveId });
  if (arrival.kind === 'unreadable')
    return { failure, problem: `the archived envelope cannot be read: ${arrival.problem}` };
  const patched =
    settings.patch === undefined ? undefined : applyPatch(arrival.envelope.payload, settings.patch);
  if (patched !== undefined && 'problem' in patched) return { failure, problem: patched.problem };
  const timeoutMs = settings.timeoutMsOf(failure);
  const replayed = replayOf(arrival.envelope, {
    replay: settings.replay,
    ...defined({ to: settings.to }),
    ...(timeoutMs !== undefined && { deadlineMs: now + timeoutMs }),
    ...(patched !== undefined && { payload: patched.text }),
  });
  if ('problem' in replayed) return { failure, problem: replayed.problem };
  const body = encode(replayed.envelope);
  const bytes = Buffer.byteLength(body);
  if (bytes > settings.maxBodyBytes)
    return {
      failure,
      problem: `the envelope has ${bytes} bytes; the broker accepts at most ${settings.maxBodyBytes}`,
    };
  return { failure, ...replayed, body };
}
