import { type Arrival, decode } from '../../lib/core/envelope/decode.ts';
import type { Envelope } from '../../lib/core/envelope/envelope.ts';
import { anEnvelope, NOW_TEXT, ORIGIN } from './a-delivery.ts';

/** Envelopes as x-sink and x-sump receive them. */

type Fields = Readonly<Record<string, unknown>>;

export const AN_ERROR = {
  type: 'pkg.ValueError',
  mro: ['Exception'],
  message: 'no such user: 17',
  traceback: '',
};

export const A_FAILURE = {
  phase: 'failed',
  reason: 'PolicyExhausted',
  actor: 'score',
  attempt: 3,
  created_at: '2025-12-31T23:59:00Z',
  updated_at: NOW_TEXT,
  error: AN_ERROR,
};

/** An envelope that failed at `score`, with some fields changed. */
export function aFailedBody(changes: Fields = {}): Fields {
  return anEnvelope({ status: A_FAILURE, ...changes });
}

export function aFailed(changes: Fields = {}): Envelope {
  return envelopeOf(aFailedBody(changes));
}

export function envelopeOf(body: Fields): Envelope {
  const arrival = arrivalOf(JSON.stringify(body));
  if (arrival.kind === 'unreadable') throw new Error(`invalid envelope in the test: ${arrival.problem}`);
  return arrival.envelope;
}

export function arrivalOf(body: string | Uint8Array, actor = ORIGIN.actor): Arrival {
  return decode(body, { ...ORIGIN, actor });
}
