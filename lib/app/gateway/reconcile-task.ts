import { decode } from '../../core/envelope/decode.ts';
import type { Envelope } from '../../core/envelope/envelope.ts';
import { ARCHIVED_WITHIN_MS, type EndRecord } from '../../core/failure/record.ts';
import { type FinalReport, finalReportOf } from '../../core/task/report.ts';
import { isFinal, type Task } from '../../core/task/task.ts';
import { openChildren, withLookupTime } from '../../core/task/task-children.ts';
import { endTask, expireTask } from '../../core/task/task-end.ts';
import { applyReport } from '../../core/task/task-report.ts';
import { defined } from '../../core/text/defined.ts';
import type { Refusal } from '../../ports/reply.ts';
import type { GatewayDeps } from './gateway-deps.ts';

export type Reconciled = { readonly ok: true; readonly task: Task | undefined } | Refusal;

/**
 * Recovers the end of an open task whose last report may be lost. If the end records have its end, the task gets it;
 * otherwise the task is expired once its deadline has passed.
 */
export async function reconcileTask(task: Task, deps: GatewayDeps): Promise<Reconciled> {
  if (isFinal(task.state)) return { ok: true, task };
  const ended = await endFromArchive(task, deps);
  if (!ended.ok) return ended;
  const { end } = ended;
  const { tasks, clock } = deps;
  if (end !== undefined) return tasks.update(task.id, end);
  return isOverdue(task, clock.now())
    ? tasks.update(task.id, (one) => expireTask(one, clock.now()))
    : { ok: true, task };
}

export function isOverdue({ deadlineMs }: Task, now: number): boolean {
  return deadlineMs !== undefined && now >= deadlineMs;
}

/** Each child costs one query. */
const MAX_CHILDREN_PER_READ = 20;

/** Whether an ended task still has open children that were not looked up within `silentMs`. */
export function hasSilentChildren(task: Task, now: number, silentMs: number): boolean {
  if (!isFinal(task.state) || now - task.updatedMs < silentMs) return false;
  const last = openChildren(task).at(-1);
  return last !== undefined && now - (last[1].lookedMs ?? 0) >= silentMs;
}

/**
 * Recovers the ends of an ended task's open children, a few at a time, because their last reports may be lost too. The
 * time of the lookup is stored, so that the next lookup starts with other children and not too soon.
 */
export async function reconcileChildren(task: Task, deps: GatewayDeps): Promise<Reconciled> {
  const ids = openChildren(task)
    .slice(0, MAX_CHILDREN_PER_READ)
    .map(([id]) => id);
  const all = await Promise.all(ids.map((id) => deps.records.ofEnvelope(id)));
  const refusal = all.find((found) => !found.ok);
  if (refusal?.ok === false) return refusal;
  const ends = all.flatMap((found) => (found.ok ? (originalEnd(found.records) ?? []) : []));
  return deps.tasks.update(task.id, (one) => {
    const now = deps.clock.now();
    const updated = ends.reduce((before, end) => applyReport(before, reportOf(one.id, end), now), one);
    return withLookupTime(updated, new Set(ids), now);
  });
}

function reportOf(task: string, { envelopeId, actor, hop, end, reason, archiveKey }: EndRecord): FinalReport {
  const why = reason === '' ? {} : { reason };
  const common = { task, envelope_id: envelopeId, actor, hop, ...defined({ archive_key: archiveKey }) };
  return { ...common, event: 'final', phase: end, ...why };
}

type EndFound = { readonly ok: true; readonly end?: (task: Task) => Task } | Refusal;

async function endFromArchive(task: Task, deps: GatewayDeps): Promise<EndFound> {
  const found = await deps.records.ofEnvelope(task.id);
  if (!found.ok) return found;
  const record = originalEnd(found.records);
  if (record === undefined) return { ok: true };
  const archived = await archivedOf(record, deps);
  if (!archived.ok) return archived;
  const now = deps.clock.now();
  if (archived.isMissing && !isOverdue(task, now) && now - record.atMs < ARCHIVED_WITHIN_MS)
    return { ok: true };
  const report = archived.envelope && finalReportOf(archived.envelope, record.archiveKey);
  const { end: state, reason, actor, archiveKey } = record;
  const why = reason === '' ? {} : { reason };
  return {
    ok: true,
    end: (one) =>
      report?.task === one.id && report.envelope_id === one.id
        ? applyReport(one, report, deps.clock.now())
        : endTask(one, { state, actor, ...defined({ archiveKey }), ...why }, deps.clock.now()),
  };
}

/** The task's own end: the first one that does not belong to a replay. */
function originalEnd(records: readonly EndRecord[]): EndRecord | undefined {
  const [first] = [...records].sort(
    (one, other) =>
      Number(one.replay !== undefined) - Number(other.replay !== undefined) || one.atMs - other.atMs,
  );
  return first;
}

/** Also for an end whose envelope is not archived: nothing is missing. */
async function archivedOf({ archiveKey }: EndRecord, deps: GatewayDeps): Promise<ArchivedEnvelope> {
  return archiveKey === undefined ? { ok: true, isMissing: false } : readArchived(archiveKey, deps);
}

type ArchivedEnvelope =
  | { readonly ok: true; readonly envelope?: Envelope; readonly isMissing: boolean }
  | Refusal;

/** Without `envelope` if the archive does not have it, or has one that cannot be decoded. */
export async function readArchived(key: string, deps: GatewayDeps): Promise<ArchivedEnvelope> {
  const got = await deps.archive.get(key);
  if (!got.ok) return got;
  if (got.text === undefined) return { ok: true, isMissing: true };
  const arrival = decode(got.text, { actor: 'x-gateway', messageId: key, deriveId: deps.deriveId });
  return {
    ok: true,
    isMissing: false,
    ...(arrival.kind === 'readable' ? { envelope: arrival.envelope } : {}),
  };
}
