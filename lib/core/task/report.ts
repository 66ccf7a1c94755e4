import { endActorOf, endOf } from '../envelope/end.ts';
import type { Envelope, Route } from '../envelope/envelope.ts';
import type { HandlerProgress } from '../envelope/handler-progress.ts';
import { FLOW, headerText, REPLAY, TASK } from '../envelope/headers.ts';
import { hopOf } from '../envelope/route.ts';
import { errorOf } from '../failure/failure.ts';
import { defined } from '../text/defined.ts';
import { truncateError } from './task-end.ts';

/** A report to the gateway about an envelope that belongs to a task. It never contains the payload. */
export type Report = StepReport | ProgressReport | FinalReport;

interface ReportedEnvelope {
  readonly task: string;
  readonly flow?: string;
  readonly envelope_id: string;
  readonly parent_id?: string;
  readonly actor: string;
  /** The number of actors that the envelope has passed. */
  readonly hop: number;
  /** When it happened. */
  readonly at?: string;
}

/** What happened to an envelope before a report, in case no other report says it. */
export interface Before {
  /** When the envelope arrived at the actor. Absent in reports of earlier versions, which report every step. */
  readonly arrived_at?: string;
  /** When the actor before completed the envelope. Absent if the time is not known. */
  readonly left_at?: string;
  /** Set if the actor before failed and the envelope was routed here because of that. */
  readonly is_rerouted?: true;
}

/**
 * A sidecar's report about a step of the route. A sidecar reports an envelope once, as `processing`, and only if its call
 * takes a while. Sidecars of earlier versions report every step.
 */
export interface StepReport extends ReportedEnvelope, Before {
  readonly event: StepEvent;
  readonly attempt: number;
  /** After `completed`: the route of the envelope that was sent. */
  readonly route: Route;
}

export type StepEvent = 'received' | 'processing' | 'completed';

/** What a handler reported during its call: the latest value of each field. */
export interface ProgressReport extends ReportedEnvelope, Before, HandlerProgress {
  readonly event: 'progress';
  readonly attempt: number;
  readonly route: Route;
  /**
   * Increases with every report of an attempt, because reports may arrive out of order. It is the sidecar's time in
   * milliseconds since 1970, so that it also increases when an envelope is redelivered after a crash.
   */
  readonly order: number;
}

/** The crew's report about the end. */
export interface FinalReport extends ReportedEnvelope {
  readonly event: 'final';
  readonly phase: 'succeeded' | 'failed' | 'canceled';
  readonly reason?: string;
  readonly error?: { readonly type: string; readonly message: string };
  /** The key of the whole envelope in the archive. Absent if it is not archived. */
  readonly archive_key?: string;
  /** Where the envelope ended. The sidecars of the actors that it passed may not have reported it. */
  readonly route?: Route;
}

/** The report of an envelope's end. Undefined if the envelope does not belong to a task. */
export function finalReportOf(envelope: Envelope, archiveKey?: string): FinalReport | undefined {
  const reported = reportedOf(envelope);
  if (reported === undefined) return undefined;
  const { status } = envelope;
  const phase = endOf(envelope);
  return {
    ...reported,
    event: 'final',
    actor: endActorOf(envelope),
    phase,
    ...(typeof status?.reason === 'string' ? { reason: status.reason } : {}),
    ...(phase === 'failed' ? { error: truncateError(errorOf(envelope)) } : {}),
    ...(typeof status?.updated_at === 'string' ? { at: status.updated_at } : {}),
    ...defined({ archive_key: archiveKey }),
    route: envelope.route,
  };
}

/**
 * The report that an envelope is being processed. Undefined if it has no task to report to.
 * @param original The envelope as received.
 */
export function visitReportOf(arrived: Envelope, original: Envelope, actor: string): StepReport | undefined {
  const reported = stepReportOf(arrived, 'processing', actor);
  return reported && { ...reported, ...beforeOf(arrived, original) };
}

function beforeOf(arrived: Envelope, original: Envelope): Before {
  const { updated_at: arrivedAt, cause } = arrived.status ?? {};
  const { phase, updated_at: leftAt } = original.status ?? {};
  const hasLeft = phase === 'pending' && arrived.route.prev.length > 0;
  return {
    ...(typeof arrivedAt === 'string' && { arrived_at: arrivedAt }),
    ...(hasLeft && typeof leftAt === 'string' && { left_at: leftAt }),
    ...(cause !== undefined && { is_rerouted: true }),
  };
}

/** The report of a step. Undefined if the envelope has no task to report to. */
function stepReportOf(envelope: Envelope, event: StepEvent, actor: string): StepReport | undefined {
  if (taskToReportTo(envelope) === undefined) return undefined;
  const reported = reportedOf(envelope);
  const attempt = envelope.status?.attempt ?? 1;
  return reported && { ...reported, event, actor, attempt, route: envelope.route };
}

/** The task whose state the envelope may still change. Undefined without a task, and for a replay: its task has ended. */
export function taskToReportTo({ headers }: Envelope): string | undefined {
  return headers.has(REPLAY) ? undefined : headerText(headers, TASK);
}

/**
 * The report of a handler's progress. Undefined if the envelope has no task to report to.
 * @param original The envelope as received.
 */
export function progressReportOf(
  arrived: Envelope,
  original: Envelope,
  progress: HandlerProgress,
  actor: string,
  order: number,
): ProgressReport | undefined {
  const reported = stepReportOf(arrived, 'processing', actor);
  return reported && { ...reported, ...beforeOf(arrived, original), event: 'progress', ...progress, order };
}

function reportedOf(envelope: Envelope): Omit<ReportedEnvelope, 'actor' | 'at'> | undefined {
  const task = headerText(envelope.headers, TASK);
  if (task === undefined) return undefined;
  const flow = headerText(envelope.headers, FLOW);
  const { id, parent_id, route } = envelope;
  return {
    task,
    ...defined({ flow }),
    envelope_id: id,
    ...defined({ parent_id }),
    hop: hopOf(route),
  };
}
