import type { Publication } from '../core/pipeline/plan-delay.ts';
import type { Refusal } from './reply.ts';

/** Publishes messages at a later time, even if this process has ended by then. */
export interface ScheduledPublish {
  /**
   * Stores the publication durably. It is published at least once when it is due. If a publication of the same name was
   * scheduled before, nothing changes. Expected failures are returned, never thrown.
   */
  schedule(publication: Publication): Promise<Scheduled>;
  /** Waits for requests in flight and stops all timers. */
  close(): Promise<void>;
}

export type Scheduled =
  | {
      readonly ok: true;
      /** False if the name was already scheduled. */
      readonly isNew: boolean;
    }
  | (Refusal & {
      /** True if this publication would be refused every time. Do not retry it. */
      readonly isPermanent?: true;
    });
