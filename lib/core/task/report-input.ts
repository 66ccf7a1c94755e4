import type { Route } from '../envelope/envelope.ts';
import { defined } from '../text/defined.ts';
import { type Fields, isFields } from '../text/fields.ts';
import { type JsonText, readJson } from '../text/json-text.ts';
import { limitProgress } from './progress-limits.ts';
import type { Before, FinalReport, ProgressReport, Report, StepEvent } from './report.ts';

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
  const common = {
    task,
    envelope_id,
    actor,
    hop,
    ...textAt(value, 'flow'),
    ...textAt(value, 'parent_id'),
    ...textAt(value, 'at'),
  };
  if (event === 'final') {
    const { phase, archive_key } = value;
    if (typeof phase !== 'string' || !PHASES.includes(phase)) return undefined;
    // Only a fan-out child may end without being archived.
    if (!isText(archive_key) && (archive_key !== undefined || envelope_id === task)) return undefined;
    const end = { event, phase: phase as FinalReport['phase'], ...defined({ archive_key }) } as const;
    const route = routeFromValue(value['route']);
    return { ...common, ...end, ...textAt(value, 'reason'), ...errorAt(value), ...defined({ route }) };
  }
  const { attempt } = value;
  const route = routeFromValue(value['route']);
  if (typeof event !== 'string' || !isCount(attempt) || route === undefined) return undefined;
  if (event === 'progress') {
    const progress = progressIn(value);
    return progress && { ...common, event, attempt, route, ...beforeIn(value), ...progress };
  }
  if (!STEPS.includes(event)) return undefined;
  return { ...common, event: event as StepEvent, attempt, route, ...beforeIn(value) };
}

function beforeIn(value: Fields): Before {
  const isRerouted = value['is_rerouted'] === true;
  return {
    ...textAt(value, 'arrived_at'),
    ...textAt(value, 'left_at'),
    ...(isRerouted && { is_rerouted: true }),
  };
}

type ReportedProgress = Pick<ProgressReport, 'percent' | 'message' | 'data' | 'order'>;

/** Undefined if `order` is missing or `data` is not the text of a JSON value. */
function progressIn({ order, percent, message, data }: Fields): ReportedProgress | undefined {
  if (!isCount(order)) return undefined;
  const isJson = typeof data === 'string' && readJson(data).kind !== 'invalid';
  if (data !== undefined && !isJson) return undefined;
  const progress = {
    ...(typeof percent === 'number' && { percent }),
    ...(typeof message === 'string' && { message }),
    ...(isJson && { data: data as JsonText }),
  };
  return { ...limitProgress(progress), order };
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
