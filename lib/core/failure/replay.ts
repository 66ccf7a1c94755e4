import { isCrewName, isRoutableName } from '../envelope/actor-name.ts';
import { endActorOf } from '../envelope/end.ts';
import type { Envelope, Status } from '../envelope/envelope.ts';
import { NOT_BEFORE, REPLAY, withHeader, withoutHeader } from '../envelope/headers.ts';
import { defined } from '../text/defined.ts';
import { isFields } from '../text/fields.ts';
import type { JsonText } from '../text/json-text.ts';
import { timestampText } from '../text/timestamp.ts';

/** How a failed envelope is sent once more. */
export interface ReplayOptions {
  /** The replay's id, for the header that marks the envelope. */
  readonly replay: string;
  /** Another actor than the one it failed at. */
  readonly to?: string;
  /** The instant of its new deadline; undefined: none. */
  readonly deadlineMs?: number;
  /** In place of its own. */
  readonly payload?: JsonText;
}

export type ReplayResult =
  | { readonly to: string; readonly envelope: Envelope }
  /** Why it cannot be sent. */
  | { readonly problem: string };

/** A fresh attempt with the payload it had: nothing of its failure is left but the mark of the replay. */
export function replayOf(failed: Envelope, options: ReplayOptions): ReplayResult {
  const to = options.to ?? endActorOf(failed);
  if (isCrewName(to)) return replayToCrew(failed, to, options);
  if (!isRoutableName(to))
    return { problem: `"${to}" is no actor that it could be sent to; name one with --to` };
  if (failed.status?.['unreadable'] === true && options.payload === undefined) {
    return {
      problem:
        'it could not be read when it came, and would not be now; its text is in the payload: put a right payload in its place with --patch',
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

/** What one of the crew could not keep had its end already: it goes back as it was, and gets it recorded. */
function replayToCrew(failed: Envelope, to: string, { replay, payload }: ReplayOptions): ReplayResult {
  if (to !== endActorOf(failed))
    return { problem: `"${to}" is one of the mesh's own actors, which take no replays` };
  if (payload !== undefined)
    return { problem: `it was to be kept by "${to}", and its payload is not to be changed` };
  if (failed.status?.['unreadable'] === true)
    return { problem: 'it could not be read when it came; there is nothing to repeat' };
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
