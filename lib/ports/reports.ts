import type { Report, StepReport } from '../core/task/report.ts';

/** Tells the gateway how an envelope ended. Never throws, takes no longer than a short budget. */
export interface Reports {
  /** Undefined: told, or there is nobody to tell. Otherwise, why it could not be told. */
  report(report: Report): Promise<string | undefined>;
}

/** Tells the gateway how far an envelope has come: never fails it, and hardly ever makes it wait. */
export interface Progress {
  /** True where the gateway says in time that the task was canceled; whoever does not know goes on. */
  arrived(report: StepReport): Promise<boolean>;
  /** Told together with others, a little later; lost where nobody listens. */
  note(report: StepReport): void;
  /** What was noted is told now, as far as a short budget goes: the host may stand still next. */
  flush(): Promise<void>;
}
