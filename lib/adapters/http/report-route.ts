import type { Hono } from 'hono';
import type { Gateway } from '../../app/gateway/gateway.ts';
import { reportsFromValue } from '../../core/task/report-input.ts';
import { SIGNATURE_HEADER } from '../../core/task/report-signature.ts';
import type { FaceEnv } from './face-env.ts';
import { problemResponse } from './problem.ts';
import { jsonBodyOf } from './request-body.ts';
import type { VerifyReports } from './verify-reports.ts';

export const REPORTS = '/reports';
const MAX_REPORTS = 1_000;

/** Accepts reports of sidecars and crew. They are signed with the mesh's secret: only they may change a task's state. */
export function addReportRoute(app: Hono<FaceEnv>, gateway: Gateway, verify: VerifyReports): void {
  app.post(REPORTS, async (c) => {
    const body = await jsonBodyOf(c);
    if (typeof body !== 'string') return body;
    if (!verify(c.req.header(SIGNATURE_HEADER), body)) {
      return problemResponse({
        status: 401,
        detail: `missing or invalid signature; expected ${SIGNATURE_HEADER}: t=...,v1=...`,
      });
    }
    const reports = reportsFromValue(parsed(body), MAX_REPORTS);
    if (reports === undefined) {
      const detail = `expected {"reports":[...]} with at most ${MAX_REPORTS} reports`;
      return problemResponse({ status: 400, detail });
    }
    const { canceled, problem } = await gateway.report(reports);
    if (problem !== undefined)
      return problemResponse({ status: 503, detail: 'not all reports could be stored; send them again' });
    return c.json({ canceled });
  });
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
