import type {
  Decision,
  EnvelopeEnd,
  SimulatedSend,
  SimulatedStep,
  Simulation,
} from '../app/simulation/simulation.ts';
import { whyText } from '../cli/output/timeline-messages.ts';
import { wholeTimelineTable } from '../cli/output/timeline-table.ts';
import type { DispatchType } from '../core/delivery/plan.ts';
import { endActorOf } from '../core/envelope/end.ts';
import type { Phase, Reason } from '../core/envelope/envelope.ts';
import { defined } from '../core/text/defined.ts';
import { isFields } from '../core/text/fields.ts';
import type { Route, RoutedError } from '../handler/index.ts';
import { valueFrom, valuesFrom } from './json-values.ts';

/** What happened in the mesh. All times are milliseconds of virtual time since the envelope entered it. */
export interface FlowRun {
  /** How the envelope itself ended. After a fan-out it continues as the first item. */
  readonly end: FlowEnd;
  /** How every envelope ended, children of fan-outs too, earliest first. */
  readonly ends: readonly FlowEnd[];
  /** Every delivery, in the order in which they started. */
  readonly timeline: readonly FlowStep[];
  /** The timeline as `asya simulate` prints it. With a fan-out, each row begins with the id of its envelope. */
  readonly timelineText: string;
  /** Everything that was sent, in the order of `timeline`, also to x-sink and from there to x-sump. */
  readonly sent: readonly FlowSend[];
}

/** The end of one envelope. */
export interface FlowEnd {
  readonly id: string;
  /** The envelope that a fan-out split this one from. Undefined for the envelope that entered the mesh. */
  readonly parentId?: string;
  readonly phase: Phase;
  /**
   * Why it ended. Example: `Completed`, `PolicyExhausted`. `DeliveryExhausted` if a send was refused, for example to an
   * actor that does not exist: the broker would deliver the message again and then move it to the dead-letter queue.
   */
  readonly reason: Reason;
  /** The actor that finished it or failed at it. */
  readonly actor: string;
  /** The result. After a failure, what that actor received. */
  readonly payload: unknown;
  /** Undefined if it succeeded. */
  readonly error?: RoutedError;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly route: Route;
  /** When it ended. */
  readonly atMs: number;
}

/** One delivery to an actor. */
export interface FlowStep {
  readonly envelopeId: string;
  /** The crew has steps too: `x-sink` at each end, and `x-sump` after a failure. */
  readonly actor: string;
  readonly atMs: number;
  /** Undefined for the crew, and while the envelope waits for a delay above 15 minutes. */
  readonly attempt?: number;
  /** How the call ended. Undefined if the handler was not called. */
  readonly outcome?: 'value' | 'error' | 'timeout' | 'connection';
  /** Undefined if the call succeeded. */
  readonly error?: StepError;
  /** What the mesh did. Examples: `passes`, `retries`, `exhausted`, `routed`, `uncovered` (no policy matches). */
  readonly decision: Decision['kind'];
  /** The name of the policy that decided. Undefined if none did. */
  readonly policy?: string;
  /** The delay before the next attempt. Undefined without a retry. */
  readonly delayMs?: number;
  /** The reason for the decision, as `asya simulate` prints it. For people: the text may change. */
  readonly why: string;
}

/** The error of a call, as policies see it. */
export interface StepError {
  readonly type: string;
  /** The type and its ancestors. */
  readonly mro: readonly string[];
  readonly message: string;
  readonly httpStatus?: number;
  /** Seconds, or a time as text. */
  readonly retryAfter?: number | string;
}

/** One send. */
export interface FlowSend {
  /** The actor that sent it. */
  readonly from: string;
  /** An actor, or the topic of an escalation. */
  readonly to: string;
  /** Why: `next` and `sink` after a value, `retry`, `routed` by `onExhausted` or `_on_error`, `escalation`, ... */
  readonly type: DispatchType;
  readonly envelopeId: string;
  readonly parentId?: string;
  readonly payload: unknown;
  readonly headers: Readonly<Record<string, unknown>>;
  /** The delay that the send asked for. 0: none. */
  readonly delayMs: number;
  /** When it arrives. SQS rounds a delay up to whole seconds. */
  readonly arrivesMs: number;
}

export function flowRunFrom({ steps, ends }: Simulation, envelopeId: string): FlowRun {
  const all = ends.map(endFrom);
  const end = all.find(({ id }) => id === envelopeId);
  if (end === undefined) throw new Error(`the envelope "${envelopeId}" has no end`);
  return {
    end,
    ends: all,
    timeline: steps.map(flowStepFrom),
    timelineText: wholeTimelineTable(steps),
    sent: steps.flatMap(({ actor, sends }) => sends.map((send) => sendFrom(actor, send))),
  };
}

function endFrom({ envelope, end }: EnvelopeEnd): FlowEnd {
  const { id, parent_id: parentId, route, headers, payload, status } = envelope;
  const released = end.kind === 'released' ? releasedBecause(end.problem) : {};
  return {
    id,
    ...defined({ parentId }),
    phase: status?.phase as Phase,
    reason: status?.reason as Reason,
    actor: endActorOf(envelope),
    payload: valueFrom(payload),
    ...(isFields(status?.error) && { error: status.error as unknown as RoutedError }),
    headers: valuesFrom(headers),
    route,
    atMs: end.atMs,
    ...released,
  };
}

function releasedBecause(message: string): Pick<FlowEnd, 'phase' | 'reason' | 'error'> {
  const type = 'DeliveryExhausted';
  return { phase: 'failed', reason: type, error: { type, mro: [type], message, traceback: '' } };
}

function flowStepFrom(step: SimulatedStep): FlowStep {
  const { envelopeId, actor, atMs, attempt, call, decision } = step;
  const { outcome, fault } = call ?? {};
  const retryAfter = fault?.retryAfter as number | string | undefined;
  const error: StepError | undefined = fault && {
    type: fault.type,
    mro: fault.mro,
    message: fault.message,
    ...defined({ httpStatus: fault.httpStatus, retryAfter }),
  };
  return {
    envelopeId,
    actor,
    atMs,
    ...defined({ attempt, outcome, error }),
    decision: decision.kind,
    ...('by' in decision && { policy: decision.by.policy }),
    ...(decision.kind === 'retries' && { delayMs: decision.delayMs }),
    why: whyText(step),
  };
}

function sendFrom(from: string, { to, type, delayMs, arrivesMs, envelope }: SimulatedSend): FlowSend {
  const { id, parent_id: parentId, payload, headers } = envelope;
  return {
    from,
    to,
    type,
    envelopeId: id,
    ...defined({ parentId }),
    payload: valueFrom(payload),
    headers: valuesFrom(headers),
    delayMs,
    arrivesMs,
  };
}
