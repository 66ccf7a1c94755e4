import type { Envelope } from './envelope.ts';

/** How an envelope ended. */
export type End = 'succeeded' | 'failed' | 'canceled';

/** An end that is neither marked as succeeded nor as canceled counts as failed, so that somebody looks at it. */
export function endOf({ status }: Envelope): End {
  return status?.phase === 'succeeded' || status?.phase === 'canceled' ? status.phase : 'failed';
}

/** Whether x-sink forwards the envelope to x-sump. A dropped envelope only gets a record. */
export function isForSump(envelope: Envelope): boolean {
  return endOf(envelope) === 'failed' && envelope.status?.reason !== 'Dropped';
}

/** The actor that finished the envelope or failed at it. */
export function endActorOf({ route, status }: Envelope): string {
  const { actor } = status ?? {};
  return (typeof actor === 'string' && actor) || route.curr || route.prev.at(-1) || 'unknown';
}
