import type { FinalReport, ProgressReport, StepEvent, StepReport } from '../../lib/core/task/report.ts';
import type { Task } from '../../lib/core/task/task.ts';
import { createTask } from '../../lib/core/task/task-create.ts';
import { NOW } from './a-delivery.ts';

const ACTORS = ['fetch', 'score', 'store'];

export function aTask(changes: Partial<Task> = {}): Task {
  const route = { prev: [], curr: 'fetch', next: ['score', 'store'] };
  return { ...createTask({ id: 't-1', flow: 'enhance', owner: 'me', route, now: NOW }), ...changes };
}

/** A report about the actor with this index. After `completed`, the route is advanced. */
export function aStep(event: StepEvent, hop: number, changes: Partial<StepReport> = {}): StepReport {
  const at = event === 'completed' ? hop + 1 : hop;
  return {
    task: 't-1',
    envelope_id: 't-1',
    event,
    actor: ACTORS[hop] ?? 'further',
    hop,
    attempt: 1,
    route: { prev: ACTORS.slice(0, at), curr: ACTORS[at] ?? '', next: ACTORS.slice(at + 1) },
    ...changes,
  };
}

/** What the handler of the actor with this index reported. A larger order is a later report. */
export function anUpdate(hop: number, order: number, changes: Partial<ProgressReport> = {}): ProgressReport {
  return { ...aStep('processing', hop), event: 'progress', order, ...changes };
}

export function anEndOf(
  phase: FinalReport['phase'] = 'succeeded',
  changes: Partial<FinalReport> = {},
): FinalReport {
  return {
    task: 't-1',
    envelope_id: 't-1',
    event: 'final',
    actor: 'store',
    hop: 3,
    phase,
    reason: phase === 'succeeded' ? 'Completed' : 'RuntimeError',
    ...(phase === 'failed' ? { error: { type: 'ValueError', message: 'no' } } : {}),
    archive_key: `${phase}/t-1.json`,
    ...changes,
  };
}
