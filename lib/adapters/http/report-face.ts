import type { Hono } from 'hono';
import type { Gateway } from '../../app/gateway/gateway.ts';
import type { Telemetry } from '../../ports/telemetry.ts';
import { baseApp, limitBody } from './base-app.ts';
import type { FaceEnv } from './face-env.ts';
import { methodProblem } from './problem.ts';
import { addReportRoute, REPORTS } from './report-route.ts';
import type { VerifyReports } from './verify-reports.ts';

export interface ReportFaceOptions {
  readonly gateway: Gateway;
  readonly verifyReports: VerifyReports;
  readonly telemetry: Pick<Telemetry, 'warn'>;
}

/** An app that accepts only reports. It runs on its own host, so that callers cannot use up its capacity. */
export function reportFace({ gateway, verifyReports, telemetry }: ReportFaceOptions): Hono<FaceEnv> {
  const app = baseApp(telemetry);
  app.use(limitBody());
  addReportRoute(app, gateway, verifyReports);
  app.all(REPORTS, () => methodProblem('POST'));
  return app;
}
