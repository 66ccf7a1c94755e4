import type { Admission, Call, EndActorCall } from '../../core/delivery/admit.ts';
import type { Context } from '../../core/delivery/context.ts';
import { decide } from '../../core/delivery/decide.ts';
import type { Outcome } from '../../core/delivery/outcome.ts';
import type { DispatchType, Plan } from '../../core/delivery/plan.ts';
import type { Envelope } from '../../core/envelope/envelope.ts';
import { statusAfter } from '../../core/envelope/status.ts';
import { taskToReportTo, visitReportOf } from '../../core/task/report.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Progress } from '../../ports/reports.ts';

interface Reporter {
  readonly actor: { readonly name: string };
  readonly clock: Clock;
  readonly progress?: Progress;
}

/** The delivery ends as canceled without a call if its task is known to be canceled. It does not wait for the gateway. */
export function unlessCanceled(admission: Admission, { actor, clock, progress }: Reporter): Admission {
  if (progress === undefined || admission.kind !== 'call') return admission;
  const task = taskToReportTo(admission.envelope);
  if (task === undefined) return admission;
  if (progress.isCanceled(task)) return canceled(admission.envelope, actor.name, clock.now());
  progress.refresh();
  return admission;
}

/**
 * Reports a call that takes a while. Returns a function to be called at its end.
 * @param isReported Whether the gateway knows about the call already.
 */
export function reportCall(
  call: Call | EndActorCall,
  isReported: () => boolean,
  { actor, progress }: Reporter,
): () => void {
  const { envelope, original } = call;
  if (progress === undefined || call.kind !== 'call' || taskToReportTo(envelope) === undefined)
    return () => {};
  return progress.follow(() => (isReported() ? undefined : visitReportOf(envelope, original, actor.name)));
}

/** Sends with which an envelope goes on, instead of to its end. */
const GOES_ON: readonly DispatchType[] = ['next', 'routed', 'retry', 'again'];

/**
 * Decides, once the call has ended. If its task is known to be canceled by now, the envelope ends as canceled instead of
 * going on to another actor or attempt.
 */
export function decideUnlessCanceled(outcome: Outcome, context: Context, { progress }: Reporter): Plan {
  const plan = decide(outcome, context);
  if (progress === undefined || outcome.kind !== 'called' || outcome.call.kind !== 'call') return plan;
  const { envelope } = outcome.call;
  const task = taskToReportTo(envelope);
  const goesOn = plan.dispatches.some(({ type }) => GOES_ON.includes(type));
  if (task === undefined || !goesOn || !progress.isCanceled(task)) return plan;
  return decide(canceled(envelope, context.actor.name, context.now), context);
}

function canceled(envelope: Envelope, actor: string, now: number): Extract<Admission, { kind: 'canceled' }> {
  const status = statusAfter(envelope.status, { phase: 'canceled', actor, now });
  return { kind: 'canceled', envelope: { ...envelope, status } };
}
