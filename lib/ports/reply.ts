/** The response of an outside system to one request. Expected failures are returned, never thrown. */
export type Reply = { readonly ok: true } | Refusal;

/** The request failed, or may have failed: after a lost connection the outcome is unknown. The caller may try again. */
export interface Refusal {
  readonly ok: false;
  /** What happened, for logs and error messages. Never contains a payload. */
  readonly problem: string;
  /** True if the request failed because the queue does not exist. The queue may be created later. */
  readonly isQueueMissing?: boolean;
}

export const ACCEPTED: Reply = { ok: true };
