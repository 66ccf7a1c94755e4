import { isReservedName, isRoutableName } from '../envelope/actor-name.ts';
import { endActorOf } from '../envelope/end.ts';
import type { Envelope, Status } from '../envelope/envelope.ts';
import { NOT_BEFORE, REPLAY, withHeader, withoutHeader } from '../envelope/headers.ts';
import { defined } from '../text/defined.ts';
import { isFields } from '../text/fields.ts';
import type { JsonText } from '../text/json-text.ts';
import { timestampText } from '../text/timestamp.ts';

/** How a failed envelope is replayed. */
export interface ReplayOptions {
  /** The replay's id, for the header that marks the envelope. */
  readonly replay: string;
  /** The actor to send it to. Default: the actor at which it failed. */
  readonly to?: string;
  /** The new deadline. Default: no deadline. */
  readonly deadlineMs?: number;
  /** Replaces the envelope's payload. */
  readonly payload?: JsonText;
}

export type ReplayResult =
  | { readonly to: string; readonly envelope: Envelope }
  /** Why it cannot be replayed. */
  | { readonly problem: string };

/** The envelope for a new attempt: same payload, no status of the failure, and a header with the replay's id. */
export function replayOf(failed: Envelope, options: ReplayOptions): ReplayResult {
  const to = options.to ?? endActorOf(failed);
  if (isReservedName(to)) return replayToCrew(failed, to, options);
  if (!isRoutableName(to))
    return {
      problem: `"${to}" is not a valid actor name; choose another actor with --to`,
    };
  if (failed.status?.['unreadable'] === true && options.payload === undefined) {
    return {
      problem:
        'the original message could not be decoded; its text is in the payload. Set a valid payload with --patch',
    };
  }
  const { deadlineMs, payload = failed.payload } = options;
  const { status: _failure, ...rest } = failed;
  const envelope: Envelope = {
    ...rest,
    route: { ...failed.route, curr: to },
    headers: marked(failed, options.replay),
    payload,
    ...(deadlineMs !== undefined && { status: { deadline_at: timestampText(deadlineMs) } }),
  };
  return { to, envelope };
}

/**
 * An envelope that an actor of the crew could not record had ended before. It is sent back with the status before the
 * failure, so that its end is recorded.
 */
function replayToCrew(failed: Envelope, to: string, { replay, payload }: ReplayOptions): ReplayResult {
  if (to !== endActorOf(failed))
    return { problem: `"${to}" is a crew actor; only its own failures can be replayed to it` };
  if (payload !== undefined)
    return { problem: `it had already ended when it failed at "${to}"; its payload cannot be changed` };
  if (failed.status?.['unreadable'] === true)
    return { problem: 'the original message could not be decoded, so there is nothing to replay' };
  const before = failed.status?.['before'];
  const { status: _failure, ...rest } = failed;
  const status = isFields(before) ? (before as Status) : undefined;
  const envelope = {
    ...rest,
    headers: marked(failed, replay),
    ...defined({ status }),
  };
  return { to, envelope };
}

function marked({ headers }: Envelope, replay: string): Envelope['headers'] {
  return withHeader(withoutHeader(headers, NOT_BEFORE), REPLAY, replay);
}
