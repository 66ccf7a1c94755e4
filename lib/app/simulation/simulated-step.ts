import { defined } from '../../core/text/defined.ts';
import { explainDecision, faultOfCall } from './explain-decision.ts';
import type { Delivered } from './simulated-delivery.ts';
import type { QueueTraits } from './simulated-queues.ts';
import type { SimulatedCall, SimulatedStep } from './simulation.ts';

/** A delivery as it is told: from the start of the simulation on, and with the reason for what was decided. */
export function stepFrom(delivered: Delivered, startMs: number, { heldMs }: QueueTraits): SimulatedStep {
  const { line, arrivedAt, decidedAt, attempt, call, sent, settle } = delivered;
  const decision = explainDecision(delivered, startMs);
  const isCounted = !line.actor.isEnd && decision.kind !== 'waits';
  const called = line.actor.isEnd ? undefined : callFrom(call);
  return {
    actor: line.actor.name,
    atMs: arrivedAt - startMs,
    endedMs: decidedAt - startMs,
    ...(isCounted ? { attempt } : {}),
    ...defined({ call: called }),
    decision,
    sends: sent.map(({ to, type, delayMs }) => ({
      to,
      type,
      delayMs,
      arrivesMs: decidedAt - startMs + heldMs(delayMs),
    })),
    settle,
  };
}

function callFrom(call: Delivered['call']): SimulatedCall | undefined {
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
