import type { Admission } from '../../core/delivery/admit.ts';
import type { Plan } from '../../core/delivery/plan.ts';
import { statusAfter } from '../../core/envelope/status.ts';
import { stepReportOf } from '../../core/task/report.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Progress } from '../../ports/reports.ts';

interface Reporter {
  readonly actor: { readonly name: string };
  readonly clock: Clock;
  readonly progress?: Progress;
}

/** Reports that an envelope arrived. If the gateway replies that its task is canceled, the envelope ends as canceled. */
export async function reportArrival(admission: Admission, reporter: Reporter): Promise<Admission> {
  const { actor, clock, progress } = reporter;
  if (progress === undefined || admission.kind !== 'call') return admission;
  const { envelope } = admission;
  const received = stepReportOf(envelope, 'received', actor.name, clock.now());
  if (received === undefined) return admission;
  if (await progress.arrived(received)) {
    const status = statusAfter(envelope.status, { phase: 'canceled', actor: actor.name, now: clock.now() });
    return { kind: 'canceled', envelope: { ...envelope, status } };
  }
  const processing = stepReportOf(envelope, 'processing', actor.name, clock.now());
  if (processing !== undefined) void progress.note(processing);
  return admission;
}

/**
 * Reports that this actor completed the envelope, after the sends were accepted. Failures and retries are not
 * completions: x-sink reports how an envelope ends.
 */
export function reportCompletion(
  admission: Admission,
  plan: Plan,
  { actor, clock, progress }: Reporter,
): void {
  if (progress === undefined || admission.kind !== 'call' || plan.settle !== 'ack') return;
  const { envelope } = admission;
  const sentOn = plan.dispatches.find(
    ({ type, envelope: sent }) =>
      sent.id === envelope.id && (type === 'next' || (type === 'sink' && sent.status?.phase === 'succeeded')),
  );
  if (sentOn === undefined) return;
  const completed = stepReportOf(envelope, 'completed', actor.name, clock.now(), sentOn.envelope);
  if (completed !== undefined) void progress.note(completed);
}
