import { endActorOf } from '../../core/envelope/end.ts';
import type { Envelope } from '../../core/envelope/envelope.ts';
import { isFields } from '../../core/text/fields.ts';
import type { DeadlineVerdict, Requests, SimulatedEnd, SimulatedStep } from './simulation.ts';

/** How an envelope ended that reached x-sink. */
export function endAtSink(ended: Envelope, steps: readonly SimulatedStep[]): SimulatedEnd {
  const { status } = ended;
  const error = isFields(status?.error) ? status.error : undefined;
  const sends = steps.flatMap((step) => step.sends);
  const went = sends.filter(({ type }) => type === 'sink' || type === 'sump' || type === 'escalation');
  return {
    kind: 'ended',
    atMs: steps.at(-1)?.atMs ?? 0,
    phase: String(status?.phase),
    reason: String(status?.reason),
    actor: endActorOf(ended),
    ...(error !== undefined && { errorType: String(error['type']) }),
    went: went.map(({ to }) => to),
  };
}

/** Whether the envelope ended before its deadline. */
export function deadlineVerdict(
  deadlineMs: number | undefined,
  end: SimulatedEnd,
  steps: readonly SimulatedStep[],
): DeadlineVerdict {
  if (deadlineMs === undefined) return { verdict: 'none' };
  for (const { decision } of steps) {
    const { kind: how } = decision;
    if (how === 'expired' || how === 'cut-off' || how === 'retries-too-late')
      return { verdict: 'missed', deadlineMs, how };
  }
  const isMet = end.kind === 'ended' && end.phase === 'succeeded';
  return { verdict: isMet ? 'met' : 'not-reached', deadlineMs, spareMs: deadlineMs - end.atMs };
}

/** The requests that sidecars would make: a send per dispatch, a receive per delivery, a delete per ack. */
export function requestsOf(steps: readonly SimulatedStep[]): Requests {
  return {
    sends: 1 + steps.reduce((count, { sends }) => count + sends.length, 0),
    receives: steps.length,
    deletes: steps.filter(({ settle }) => settle === 'ack').length,
  };
}
