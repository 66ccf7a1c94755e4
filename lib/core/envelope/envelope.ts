import type { JsonText } from '../text/json-text.ts';

/** The actors an envelope has passed, is at (`""` at the end) and has yet to visit. */
export interface Route {
  readonly prev: readonly string[];
  readonly curr: string;
  readonly next: readonly string[];
}

/** By name, each value as the JSON text that came. */
export type Headers = ReadonlyMap<string, JsonText>;

export type Phase = 'pending' | 'processing' | 'retrying' | 'succeeded' | 'failed' | 'paused' | 'canceled';

export type Reason =
  | 'Completed'
  | 'PolicyExhausted'
  | 'PolicyRouted'
  | 'NonRetryableFailure'
  | 'RuntimeError'
  | 'Timeout'
  | 'ActorTimeout'
  | 'ParseError'
  | 'ValidationError'
  | 'RouteMismatch'
  | 'DeliveryExhausted'
  | 'Dropped'
  | 'Escalated';

export interface StatusError {
  readonly type: string;
  readonly mro: readonly string[];
  readonly message: string;
  readonly traceback: string;
}

/** As it travels: phases and reasons of a later version are tolerated, keys that nobody here knows are kept. */
export interface Status {
  readonly phase?: unknown;
  readonly reason?: unknown;
  readonly actor?: unknown;
  readonly attempt?: number;
  readonly max_attempts?: unknown;
  readonly created_at?: string;
  readonly updated_at?: unknown;
  readonly deadline_at?: string;
  /** The policy and rule that decided. */
  readonly decided_by?: unknown;
  readonly error?: unknown;
  readonly [unknownKey: string]: unknown;
}

/** What travels. Spread it to change it, never build it again field by field: so nothing is lost on the way. */
export interface Envelope {
  readonly id: string;
  readonly parent_id?: string;
  readonly route: Route;
  readonly headers: Headers;
  readonly payload: JsonText;
  readonly status?: Status;
  /** Top-level keys that nobody here knows. */
  readonly extra: ReadonlyMap<string, JsonText>;
}

/** `MaxRetriesExhausted` is the older word for `PolicyExhausted`. */
export function reasonFromText(text: unknown): unknown {
  return text === 'MaxRetriesExhausted' ? 'PolicyExhausted' : text;
}
