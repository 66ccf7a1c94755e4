import type { ProgressReport, Report, StepReport } from '../core/task/report.ts';

/** Reports to the gateway how envelopes ended. */
export interface Reports {
  /**
   * Resolves with undefined if the gateway accepted the report or if no gateway is configured, otherwise with the reason
   * of the failure. Never rejects, and takes no longer than a short time limit.
   */
  report(report: Report): Promise<string | undefined>;
}

/** Reports to the gateway how far envelopes have come. A gateway that does not respond never delays an envelope. */
export interface Progress {
  /** Whether an answer of the gateway so far said that this task was canceled. */
  isCanceled(task: string): boolean;
  /**
   * Asks the gateway in the background which tasks were canceled, unless it answered a short time ago. Call it when an
   * envelope of a task arrives.
   */
  refresh(): void;
  /**
   * Queues a report to be sent with others a little later. It is lost if the gateway does not respond. Resolves when it
   * was sent or lost; never rejects.
   */
  note(report: StepReport | ProgressReport): Promise<void>;
  /**
   * Follows a call that has started, until the returned function is called at its end. If the call takes longer than a second,
   * queues what `report` returns then, and asks from time to time which tasks were canceled.
   */
  follow(report: () => StepReport | undefined): () => void;
  /** Sends the queued reports now, and waits for a short time until they were sent. Call it before the host may be suspended. */
  flush(): Promise<void>;
}
