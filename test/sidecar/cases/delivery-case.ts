import type { Arrived, Wire } from '../envelopes.ts';

/** One case of the end-to-end table: an envelope to send, and the envelopes that have to arrive. */
export interface DeliveryCase {
  readonly name: string;
  /** The actor whose queue it is sent to. */
  readonly at: CaseActor;
  readonly payload: unknown;
  /** The rest of the envelope, created when it is sent. Every envelope has an id and trace headers. */
  readonly more?: () => Partial<Wire>;
  /** A body to send instead of the envelope. It has to contain the envelope's id. */
  readonly body?: (envelope: Wire) => string | Uint8Array;
  /** Runs only on brokers that accept any bytes as a body. */
  readonly needsAnyBytes?: true;
  readonly ends: (sent: Wire) => readonly End[];
  /** How often the handler was called. */
  readonly calls?: number;
  /** The minimum time from the send to the arrival. */
  readonly minMs?: number;
  /** How the sidecar settles the delivery, for cases without arrivals. */
  readonly settle?: 'ack' | 'release';
  /** What is different on a transport without delays (SPEC.md section 6). */
  readonly withoutDelays?: Pick<DeliveryCase, 'ends' | 'calls'>;
}

export interface End {
  readonly queue: string;
  readonly like: Readonly<Record<string, unknown>>;
  /** Keys that its status must not have. */
  readonly lacks?: readonly string[];
  /** Text that its body contains, byte for byte. */
  readonly bodyContains?: string;
  readonly matches?: (arrived: Arrived, sent: Wire) => boolean;
}

/**
 * `score` has policies and processes several deliveries at a time. `whole` has no policies and never fans out. `frail`
 * has a default policy and a short timeout, `hopeful` also has a rule for timeouts. `archive` is an end actor.
 */
export type CaseActor = 'score' | 'whole' | 'frail' | 'hopeful' | 'archive';

export const toSink = (like: End['like'], more: Omit<End, 'queue' | 'like'> = {}): End => ({
  queue: 'x-sink',
  like,
  ...more,
});

/** How an envelope ends that would be retried, on a transport without delays: it fails at once, unchanged. */
export function noRetryWithoutDelays(calls = 1): Pick<DeliveryCase, 'ends' | 'calls'> {
  return {
    calls,
    ends: ({ payload, route }) => [
      toSink({ payload, route, status: { phase: 'failed', reason: 'RuntimeError', attempt: 1 } }),
    ],
  };
}

export function inSeconds(seconds: number): string {
  return new Date(Date.now() + seconds * 1000).toISOString();
}
