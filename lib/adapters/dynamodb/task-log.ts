import { deflateRawSync, inflateRawSync } from 'node:zlib';
import type { FinalReport, Report } from '../../core/task/report.ts';
import type { Task, TaskState } from '../../core/task/task.ts';
import { applyReports } from '../../core/task/task-report.ts';

/** The reports of one request to the gateway. */
export interface Reported {
  readonly reports: readonly Report[];
  /** When the gateway received them. */
  readonly atMs: number;
}

/**
 * Reports that were appended to a task's item without reading it. Whoever reads the item applies them in their order, so
 * that late and duplicate ones change nothing, and the first end counts.
 */
export function taskWithLog(task: Task, log: readonly Uint8Array[]): Task {
  return log.reduce((one, entry) => {
    const { reports, atMs } = reportedFrom(entry, task);
    return applyReports(one, reports, atMs);
  }, task);
}

/** An item is billed by its size, so what the task repeats is left out. */
export function logEntry(taskId: string, { reports, atMs }: Reported): Uint8Array {
  const short = reports.map(({ task: _task, flow: _flow, envelope_id, ...report }) =>
    envelope_id === taskId ? report : { ...report, envelope_id },
  );
  return deflateRawSync(JSON.stringify([atMs, short]));
}

function reportedFrom(entry: Uint8Array, { id, flow }: Task): Reported {
  const [atMs, short] = JSON.parse(inflateRawSync(entry).toString('utf8')) as [number, readonly Report[]];
  return {
    atMs,
    reports: short.map((report) => ({ ...report, task: id, flow, envelope_id: report.envelope_id ?? id })),
  };
}

/** The state of an open task after these reports. */
export function stateAfter(taskId: string, all: readonly Reported[]): TaskState {
  const end = all
    .flatMap(({ reports }) => reports)
    .find((report): report is FinalReport => report.event === 'final' && report.envelope_id === taskId);
  return end?.phase ?? 'running';
}

/** A longer log would make every later write dearer. */
const MAX_ENTRY_BYTES = 2_048;

/**
 * Whether the reports can be appended without reading the task. A handler's progress cannot: whether it is stored
 * depends on when the last one was.
 */
export function canAppend(all: readonly Reported[], entries: readonly Uint8Array[]): boolean {
  const bytes = entries.reduce((sum, entry) => sum + entry.length, 0);
  return (
    bytes <= MAX_ENTRY_BYTES && all.every(({ reports }) => reports.every(({ event }) => event !== 'progress'))
  );
}
