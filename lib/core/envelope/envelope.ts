import type { JsonText } from '../text/json-text.ts';

/** The actors that an envelope has passed, is at (`""` at the end of the route) and still has to visit. */
export interface Route {
  readonly prev: readonly string[];
  readonly curr: string;
  readonly next: readonly string[];
}

/** Header values by name, each as its original JSON text. */
export type Headers = ReadonlyMap<string, JsonText>;

/** The phases that this version writes. Others are accepted in a status. */
export type Phase = 'pending' | 'processing' | 'retrying' | 'succeeded' | 'failed' | 'paused' | 'canceled';

/** The reasons that this version writes. Others are accepted in a status. */
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

/** An error as `status.error` contains it. */
export interface StatusError {
  readonly type: string;
  readonly mro: readonly string[];
  readonly message: string;
  readonly traceback: string;
}

/** The status of an envelope. Phases and reasons of later versions are accepted, and unknown keys are kept. */
export interface Status {
  readonly phase?: unknown;
  readonly reason?: unknown;
  readonly actor?: unknown;
  readonly attempt?: number;
  readonly max_attempts?: unknown;
  readonly created_at?: string;
  readonly updated_at?: unknown;
  readonly deadline_at?: string;
  /** The policy and the rule that decided what happened to the envelope. */
  readonly decided_by?: unknown;
  readonly error?: unknown;
  /** The error because of which the envelope was routed to the actor that it is at. Kept while that actor retries. */
  readonly cause?: unknown;
  readonly [unknownKey: string]: unknown;
}

/**
 * The JSON document that travels through the mesh. To change an envelope, spread it; do not rebuild it field by field.
 * Then no key is lost.
 */
export interface Envelope {
  readonly id: string;
  readonly parent_id?: string;
  readonly route: Route;
  readonly headers: Headers;
  readonly payload: JsonText;
  readonly status?: Status;
  /** Unknown top-level keys. They survive a hop. */
  readonly extra: ReadonlyMap<string, JsonText>;
}

/** `MaxRetriesExhausted` is the older name of `PolicyExhausted`. */
export function reasonFromText(text: unknown): unknown {
  return text === 'MaxRetriesExhausted' ? 'PolicyExhausted' : text;
}
