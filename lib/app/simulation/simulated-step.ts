import { defined } from '../../core/text/defined.ts';
import { explainDecision, faultOfCall } from './explain-decision.ts';
import type { ObservedDelivery } from './simulated-delivery.ts';
import type { QueueTraits } from './simulated-queues.ts';
import type { SimulatedCall, SimulatedStep } from './simulation.ts';

/** A delivery as a step of the simulation: times relative to its start, and the decision with its reason. */
export function stepFrom(
  delivered: ObservedDelivery,
  startMs: number,
  { actualDelayMs }: QueueTraits,
): SimulatedStep {
  const { line, arrivedAt, decidedAt, attempt, call, sent, settle } = delivered;
  const decision = explainDecision(delivered, startMs);
  const isCounted = !line.actor.isEnd && decision.kind !== 'waits';
  const called = line.actor.isEnd ? undefined : callFrom(call);
  return {
    envelopeId: delivered.envelope.id,
    actor: line.actor.name,
    atMs: arrivedAt - startMs,
    endedMs: decidedAt - startMs,
    ...(isCounted ? { attempt } : {}),
    ...defined({ call: called }),
    decision,
    sends: sent.map(({ to, type, delayMs, envelope }) => ({
      to,
      type,
      delayMs,
      arrivesMs: decidedAt - startMs + actualDelayMs(delayMs),
      envelope,
    })),
    settle,
  };
}

function callFrom(call: ObservedDelivery['call']): SimulatedCall | undefined {
  if (call === undefined) return undefined;
  const { timeoutMs, tookMs, end } = call;
  const fault = faultOfCall(call);
  const outcome =
    end.kind === 'fault'
      ? 'error'
      : end.kind === 'unreachable'
        ? 'connection'
        : end.kind === 'timeout'
          ? 'timeout'
          : 'value';
  return { outcome, tookMs, timeoutMs, ...defined({ fault }) };
}
