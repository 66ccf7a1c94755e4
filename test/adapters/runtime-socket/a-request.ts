import type { CallResult } from '../../../lib/core/delivery/outcome.ts';
import { type DeriveId, decode } from '../../../lib/core/envelope/decode.ts';
import type { Envelope } from '../../../lib/core/envelope/envelope.ts';
import type { RuntimeRequest } from '../../../lib/ports/runtime.ts';

const deriveId: DeriveId = (...parts) => parts.join('|');

export const ROUTE = { prev: ['fetch'], curr: 'score', next: ['store', 'notify'] };

/** An envelope as the sidecar passes it to a runtime. */
export function envelopeWith(payload: unknown, more: object = {}): Envelope {
  const text = JSON.stringify({ id: 'e-1', route: ROUTE, headers: {}, payload, ...more });
  const arrival = decode(text, { actor: 'score', messageId: 'm-1', deriveId });
  if (arrival.kind !== 'readable') throw new Error(`the test's own envelope is invalid: ${arrival.problem}`);
  return arrival.envelope;
}

/** A timeout that no call reaches, even on a busy machine. */
export const A_LONG_TIME_MS = 100_000;

/** A call with a payload. */
export function requestWith(payload: unknown, timeoutMs = A_LONG_TIME_MS): RuntimeRequest {
  return { envelope: envelopeWith(payload), timeoutMs };
}

export function valueIn(end: CallResult): unknown {
  if (end.kind !== 'frames') return end;
  const values = end.frames.map((frame) => JSON.parse(frame.payload) as unknown);
  return values.length === 1 ? values[0] : values;
}

export function detailOf(end: CallResult): string {
  return end.kind === 'unreachable' ? end.detail : `not unreachable: ${JSON.stringify(end)}`;
}
