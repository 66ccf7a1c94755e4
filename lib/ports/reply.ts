/** The answer of an outside system to one request. Expected failures are values, never thrown. */
export type Reply = { readonly ok: true } | Refusal;

export interface Refusal {
  readonly ok: false;
  /** What happened, for logs and error messages. */
  readonly problem: string;
  /** The queue does not exist. It may be created, or come back. */
  readonly isQueueMissing?: boolean;
}

export const ACCEPTED: Reply = { ok: true };
