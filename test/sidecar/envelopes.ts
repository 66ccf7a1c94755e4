import { randomUUID } from 'node:crypto';
import { pause } from './sidecar-process.ts';

/** Envelopes as JSON, for end-to-end tests. */

export interface Wire {
  readonly id: string;
  readonly parent_id?: string;
  readonly route: { readonly prev: string[]; readonly curr: string; readonly next: string[] };
  readonly headers: Record<string, unknown>;
  readonly payload: unknown;
  readonly status?: WireStatus;
  readonly [extra: string]: unknown;
}

export interface WireStatus {
  readonly phase?: string;
  readonly reason?: string;
  readonly actor?: string;
  readonly attempt?: number;
  readonly max_attempts?: number;
  readonly created_at?: string;
  readonly updated_at?: string;
  readonly deadline_at?: string;
  readonly error?: {
    readonly type: string;
    readonly mro: string[];
    readonly message: string;
    readonly traceback: string;
  };
}

export const TRACEPARENT = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
export const TRACESTATE = 'vendor=t61rcWkgMzE';

/** An envelope at this actor, with a new id and trace headers. */
export function envelopeAt(curr: string, payload: unknown, more: Partial<Wire> = {}): Wire {
  return {
    id: randomUUID(),
    route: { prev: [], curr, next: [] },
    payload,
    ...more,
    headers: { traceparent: TRACEPARENT, tracestate: TRACESTATE, ...more.headers },
  };
}

export interface Arrived extends Wire {
  /** The message's body. */
  readonly body: string;
  readonly arrivedAt: number;
}

/** Receives envelopes from queues and keeps them until a test requests them. */
export interface Mailbox {
  /** The next envelope with this id that arrives in this queue. */
  next(queue: string, id: string, withinMs?: number): Promise<Arrived>;
  /** The next envelope that matches. */
  nextWhere(
    queue: string,
    matches: (envelope: Arrived) => boolean,
    what: string,
    withinMs?: number,
  ): Promise<Arrived>;
  /** Every envelope that arrived and was not returned to a test. */
  rest(queue: string): Promise<readonly Arrived[]>;
}

/** @param take Receives and deletes everything that is in a queue now. */
export function mailbox(take: (queue: string) => Promise<readonly string[]>): Mailbox {
  const kept = new Map<string, Arrived[]>();

  async function takeArrivals(queue: string): Promise<Arrived[]> {
    const arrivals = kept.get(queue) ?? [];
    kept.set(queue, arrivals);
    for (const body of await take(queue)) {
      arrivals.push({ ...(JSON.parse(body) as Wire), body, arrivedAt: Date.now() });
    }
    return arrivals;
  }

  async function nextWhere(
    queue: string,
    matches: (envelope: Arrived) => boolean,
    what: string,
    withinMs = 60_000,
  ): Promise<Arrived> {
    const endsAt = Date.now() + withinMs;
    for (;;) {
      const arrivals = await takeArrivals(queue);
      const at = arrivals.findIndex(matches);
      const [found] = at < 0 ? [] : arrivals.splice(at, 1);
      if (found !== undefined) return found;
      if (Date.now() > endsAt) {
        const others = arrivals.map(({ id, status }) => `${id} (${status?.phase}, ${status?.reason})`);
        throw new Error(`${what} did not arrive in ${queue} within ${withinMs} ms; others: ${others}`);
      }
      await pause(15);
    }
  }

  return {
    next: (queue, id, withinMs) => nextWhere(queue, (envelope) => envelope.id === id, id, withinMs),
    nextWhere,
    rest: async (queue) => [...(await takeArrivals(queue))],
  };
}
