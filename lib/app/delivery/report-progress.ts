import type { Admission } from '../../core/delivery/admit.ts';
import type { Plan } from '../../core/delivery/plan.ts';
import { statusAfter } from '../../core/envelope/status.ts';
import { stepReportOf } from '../../core/task/report.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Progress } from '../../ports/reports.ts';

interface Teller {
  readonly actor: { readonly name: string };
  readonly clock: Clock;
  readonly progress?: Progress;
}

/** A call that a task's gateway no longer wants is none: the envelope ends as canceled. */
export async function unlessCanceled(admission: Admission, teller: Teller): Promise<Admission> {
  const { actor, clock, progress } = teller;
  if (progress === undefined || admission.kind !== 'call') return admission;
  const { envelope } = admission;
  const received = stepReportOf(envelope, 'received', actor.name, clock.now());
  if (received === undefined) return admission;
  if (await progress.arrived(received)) {
    const status = statusAfter(envelope.status, { phase: 'canceled', actor: actor.name, now: clock.now() });
    return { kind: 'canceled', envelope: { ...envelope, status } };
  }
  const processing = stepReportOf(envelope, 'processing', actor.name, clock.now());
  if (processing !== undefined) progress.note(processing);
  return admission;
}

/** Told after the sends were accepted. What failed or is tried again has not completed: its end is x-sink's to tell. */
export function reportCompletion(admission: Admission, plan: Plan, { actor, clock, progress }: Teller): void {
  if (progress === undefined || admission.kind !== 'call' || plan.settle !== 'ack') return;
  const { envelope } = admission;
  const sentOn = plan.dispatches.find(
    ({ type, envelope: sent }) =>
      sent.id === envelope.id && (type === 'next' || (type === 'sink' && sent.status?.phase === 'succeeded')),
  );
  if (sentOn === undefined) return;
  const completed = stepReportOf(envelope, 'completed', actor.name, clock.now(), sentOn.envelope);
  if (completed !== undefined) progress.note(completed);
}
