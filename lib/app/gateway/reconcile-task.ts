import { decode } from '../../core/envelope/decode.ts';
import type { Envelope } from '../../core/envelope/envelope.ts';
import type { EndRecord } from '../../core/failure/record.ts';
import { type FinalReport, finalReportOf } from '../../core/task/report.ts';
import { isFinal, type Task } from '../../core/task/task.ts';
import { openChildren, withLookupTime } from '../../core/task/task-children.ts';
import { endTask, expireTask } from '../../core/task/task-end.ts';
import { applyReport } from '../../core/task/task-report.ts';
import type { Refusal } from '../../ports/reply.ts';
import type { GatewayDeps } from './gateway-deps.ts';

export type Reconciled = { readonly ok: true; readonly task: Task | undefined } | Refusal;

/** An open task after a look for its end: the last report may be lost, and the archive has it. Then the clock counts. */
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

/** What one read costs at the most, in queries. */
const MAX_CHILDREN_PER_READ = 20;

/** Whether children of a task that has ended are open still, and nobody has looked for their ends lately. */
export function hasSilentChildren(task: Task, now: number, silentMs: number): boolean {
  if (!isFinal(task.state) || now - task.updatedMs < silentMs) return false;
  const last = openChildren(task).at(-1);
  return last !== undefined && now - (last[1].lookedMs ?? 0) >= silentMs;
}

/**
 * A task that has ended after a look for the ends of its open children, a few at a time: their last reports may be lost
 * too. That one was looked for in vain is noted, so that the next look is for others, and not before a while.
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
    const told = ends.reduce((before, end) => applyReport(before, reportOf(one.id, end), now), one);
    return withLookupTime(told, new Set(ids), now);
  });
}

function reportOf(task: string, { envelopeId, actor, hop, end, reason, archiveKey }: EndRecord): FinalReport {
  const why = reason === '' ? {} : { reason };
  const common = { task, envelope_id: envelopeId, actor, hop, archive_key: archiveKey };
  return { ...common, event: 'final', phase: end, ...why };
}

/** An end is recorded first and archived after: one whose error or result is not there yet is waited for. */
const ARCHIVED_WITHIN_MS = 300_000;

type EndFound = { readonly ok: true; readonly end?: (task: Task) => Task } | Refusal;

async function endFromArchive(task: Task, deps: GatewayDeps): Promise<EndFound> {
  const found = await deps.records.ofEnvelope(task.id);
  if (!found.ok) return found;
  const record = originalEnd(found.records);
  if (record === undefined) return { ok: true };
  const kept = await readArchived(record.archiveKey, deps);
  if (!kept.ok) return kept;
  const now = deps.clock.now();
  if (kept.isMissing && !isOverdue(task, now) && now - record.atMs < ARCHIVED_WITHIN_MS) return { ok: true };
  const report = kept.envelope && finalReportOf(kept.envelope, record.archiveKey);
  const { end: state, reason, actor, archiveKey } = record;
  const why = reason === '' ? {} : { reason };
  return {
    ok: true,
    end: (one) =>
      report?.task === one.id && report.envelope_id === one.id
        ? applyReport(one, report, deps.clock.now())
        : endTask(one, { state, actor, archiveKey, ...why }, deps.clock.now()),
  };
}

/** What a replay came to is another story. */
function originalEnd(records: readonly EndRecord[]): EndRecord | undefined {
  const [first] = [...records].sort(
    (one, other) =>
      Number(one.replay !== undefined) - Number(other.replay !== undefined) || one.atMs - other.atMs,
  );
  return first;
}

type ArchivedEnvelope =
  | { readonly ok: true; readonly envelope?: Envelope; readonly isMissing: boolean }
  | Refusal;

/** Without an envelope where the archive does not hold it, or not one that can be read. */
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
