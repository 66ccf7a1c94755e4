import type { Publication } from '../core/pipeline/plan-delay.ts';
import type { Refusal } from './reply.ts';

/** Publishes later, whoever is still there then. Expected failures are values, never thrown. */
export interface ScheduledPublish {
  /** Accepted: it is kept durably, and published when it is due, at least once. A name that was taken before changes nothing. */
  schedule(publication: Publication): Promise<Scheduled>;
  /** Waits for what is under way, and leaves nothing running. */
  close(): Promise<void>;
}

export type Scheduled =
  | { readonly ok: true; readonly isNew: boolean }
  /** Hopeless: this very publication would be refused for ever. */
  | (Refusal & { readonly isHopeless?: true });
