import type { Report } from '../core/report.ts';

/** Tells the gateway how far an envelope has come. Never throws, takes no longer than a short budget. */
export interface Reports {
  /** Undefined: told, or there is nobody to tell. Otherwise, why it could not be told. */
  tell(report: Report): Promise<string | undefined>;
}
