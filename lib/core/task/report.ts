import { endActorOf, endOf } from '../envelope/end.ts';
import type { Envelope, Route } from '../envelope/envelope.ts';
import type { HandlerProgress } from '../envelope/handler-progress.ts';
import { FLOW, headerText, REPLAY, TASK } from '../envelope/headers.ts';
import { hopOf } from '../envelope/route.ts';
import { errorOf } from '../failure/failure.ts';
import { defined } from '../text/defined.ts';
import { timestampText } from '../text/timestamp.ts';
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
  readonly at?: string;
}

/** A sidecar's report about a step of the route. */
export interface StepReport extends ReportedEnvelope {
  readonly event: StepEvent;
  readonly attempt: number;
  /** After `completed`: the route of the envelope that was sent. */
  readonly route: Route;
}

export type StepEvent = 'received' | 'processing' | 'completed';

/** What a handler reported during its call: the latest value of each field. */
export interface ProgressReport extends ReportedEnvelope, HandlerProgress {
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
  };
}

/** The report of a step. Undefined without a task, and for a replay: its task has ended. */
export function stepReportOf(
  envelope: Envelope,
  event: StepEvent,
  actor: string,
  now: number,
  sent: Envelope = envelope,
): StepReport | undefined {
  const reported = envelope.headers.has(REPLAY) ? undefined : reportedOf(envelope);
  if (reported === undefined) return undefined;
  const attempt = envelope.status?.attempt ?? 1;
  return { ...reported, event, actor, attempt, route: sent.route, at: timestampText(now) };
}

/** The report of a handler's progress. Undefined without a task, and for a replay: its task has ended. */
export function progressReportOf(
  envelope: Envelope,
  progress: HandlerProgress,
  actor: string,
  order: number,
): ProgressReport | undefined {
  const reported = stepReportOf(envelope, 'processing', actor, order);
  return reported && { ...reported, event: 'progress', ...progress, order };
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
