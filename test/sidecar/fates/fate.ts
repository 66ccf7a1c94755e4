import type { Arrived, Wire } from '../envelopes.ts';

/** One thing that can become of a delivery, seen from outside: what is sent, and what arrives where. */
export interface Fate {
  readonly name: string;
  /** The actor that it comes to. */
  readonly at: FateActor;
  readonly payload: unknown;
  /** The rest of the envelope, made when it is sent; an id and a trace it has anyway. */
  readonly more?: () => Partial<Wire>;
  /** What is sent in place of the envelope; it must hold its id. */
  readonly body?: (envelope: Wire) => string | Uint8Array;
  /** Only where a body can be any bytes. */
  readonly needsAnyBytes?: true;
  readonly ends: (sent: Wire) => readonly End[];
  /** How often the handler was called. */
  readonly calls?: number;
  /** From the send to the arrival. */
  readonly noSoonerThanMs?: number;
  /** What the sidecar did with the delivery, where no arrival tells. */
  readonly settle?: 'ack' | 'release';
  /** What differs on a transport without delays (SPEC.md section 6). */
  readonly withoutDelays?: Pick<Fate, 'ends' | 'calls'>;
}

export interface End {
  readonly queue: string;
  readonly like: Readonly<Record<string, unknown>>;
  /** What it does not have: names in its status. */
  readonly lacks?: readonly string[];
  /** What its text holds, byte for byte. */
  readonly says?: string;
  readonly holds?: (arrived: Arrived, sent: Wire) => boolean;
}

/**
 * `score` has policies and works on several at once; `whole` has none, and never fans out; `frail` has a default and
 * little time; `hopeful` also a rule for timeouts; `archive` is an end actor.
 */
export type FateActor = 'score' | 'whole' | 'frail' | 'hopeful' | 'archive';

export const toSink = (like: End['like'], more: Omit<End, 'queue' | 'like'> = {}): End => ({
  queue: 'x-sink',
  like,
  ...more,
});

/** What a retry comes to where nothing can be delayed: it fails at once, as it came. */
export function noRetryWithoutDelays(calls = 1): Pick<Fate, 'ends' | 'calls'> {
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
