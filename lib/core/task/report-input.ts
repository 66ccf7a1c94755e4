import type { Route } from '../envelope/envelope.ts';
import { type Fields, isFields } from '../text/fields.ts';
import type { FinalReport, Report, StepEvent } from './report.ts';

const STEPS: readonly string[] = ['received', 'processing', 'completed'] satisfies readonly StepEvent[];
const PHASES: readonly string[] = [
  'succeeded',
  'failed',
  'canceled',
] satisfies readonly FinalReport['phase'][];

/** Validates reports from the wire. Undefined if one of them is invalid. Unknown fields are left out. */
export function reportsFromValue(value: unknown, maxCount: number): readonly Report[] | undefined {
  const { reports } = isFields(value) ? value : { reports: undefined };
  if (!Array.isArray(reports) || reports.length > maxCount) return undefined;
  const read = reports.map(reportFromValue);
  return read.every((report) => report !== undefined) ? read : undefined;
}

function reportFromValue(value: unknown): Report | undefined {
  if (!isFields(value)) return undefined;
  const { task, envelope_id, event, actor, hop } = value;
  if (!isText(task) || !isText(envelope_id) || !isText(actor) || !isCount(hop)) return undefined;
  const common = { task, envelope_id, actor, hop, ...textAt(value, 'flow'), ...textAt(value, 'parent_id') };
  if (event === 'final') {
    const { phase, archive_key } = value;
    if (typeof phase !== 'string' || !PHASES.includes(phase) || !isText(archive_key)) return undefined;
    const end = { event, phase: phase as FinalReport['phase'], archive_key } as const;
    return { ...common, ...end, ...textAt(value, 'reason'), ...errorAt(value) };
  }
  const { attempt, route } = value;
  if (typeof event !== 'string' || !STEPS.includes(event) || !isCount(attempt)) return undefined;
  const read = routeFromValue(route);
  return read && { ...common, event: event as StepEvent, attempt, route: read };
}

function routeFromValue(value: unknown): Route | undefined {
  const { prev, curr, next } = isFields(value) ? value : ({} as Fields);
  return isTexts(prev) && typeof curr === 'string' && isTexts(next) ? { prev, curr, next } : undefined;
}

function errorAt({ error }: Fields): Pick<FinalReport, 'error'> {
  const { type, message } = isFields(error) ? error : ({} as Fields);
  return typeof type === 'string' && typeof message === 'string' ? { error: { type, message } } : {};
}

function textAt<Key extends string>(fields: Fields, key: Key): { readonly [K in Key]?: string } {
  const value = fields[key];
  return (typeof value === 'string' ? { [key]: value } : {}) as { [K in Key]?: string };
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== '';
}

function isTexts(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((item) => typeof item === 'string');
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && Number(value) >= 0;
}
