import type { ProgressReport, Report, StepReport } from '../core/task/report.ts';

/** Reports to the gateway how envelopes ended. */
export interface Reports {
  /**
   * Resolves with undefined if the gateway accepted the report or if no gateway is configured, otherwise with the reason
   * of the failure. Never rejects, and takes no longer than a short time limit.
   */
  report(report: Report): Promise<string | undefined>;
}

/** Reports to the gateway how far envelopes have come. A gateway that does not respond never fails a delivery. */
export interface Progress {
  /**
   * Reports that an envelope arrived at an actor. Resolves with true if the gateway responds in time that the task was
   * canceled, and with false in every other case. Never rejects.
   */
  arrived(report: StepReport): Promise<boolean>;
  /**
   * Queues a report to be sent with others a little later. It is lost if the gateway does not respond. Resolves when it
   * was sent or lost; never rejects.
   */
  note(report: StepReport | ProgressReport): Promise<void>;
  /** Sends the queued reports now, within a short time limit. Call it before the host may be suspended. */
  flush(): Promise<void>;
}
