import { endActorOf, endOf } from '../envelope/end.ts';
import type { Envelope, Route } from '../envelope/envelope.ts';
import { FLOW, headerText, REPLAY, TASK } from '../envelope/headers.ts';
import { hopOf } from '../envelope/route.ts';
import { errorOf } from '../failure/failure.ts';
import { defined } from '../text/defined.ts';
import { timestampText } from '../text/timestamp.ts';
import { truncateError } from './task-end.ts';

/** What the gateway is told of an envelope that belongs to a task. Never its payload. */
export type Report = StepReport | FinalReport;

interface ReportedEnvelope {
  readonly task: string;
  readonly flow?: string;
  readonly envelope_id: string;
  readonly parent_id?: string;
  readonly actor: string;
  /** How many actors it has passed. */
  readonly hop: number;
  readonly at?: string;
}

/** By a sidecar, on the way. */
export interface StepReport extends ReportedEnvelope {
  readonly event: StepEvent;
  readonly attempt: number;
  /** Once it is completed, as it was sent on. */
  readonly route: Route;
}

export type StepEvent = 'received' | 'processing' | 'completed';

/** By the crew, at the end. */
export interface FinalReport extends ReportedEnvelope {
  readonly event: 'final';
  readonly phase: 'succeeded' | 'failed' | 'canceled';
  readonly reason?: string;
  readonly error?: { readonly type: string; readonly message: string };
  /** Where the whole envelope is kept. */
  readonly archive_key: string;
}

/** The report of an envelope's end; undefined where no task waits for it. */
export function finalReportOf(envelope: Envelope, archiveKey: string): FinalReport | undefined {
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
    archive_key: archiveKey,
  };
}

/** The report of a step; undefined where no task waits for it: that of a replay has had its end. */
export function stepReportOf(
  envelope: Envelope,
  event: StepEvent,
  actor: string,
  now: number,
  sentOn: Envelope = envelope,
): StepReport | undefined {
  const reported = envelope.headers.has(REPLAY) ? undefined : reportedOf(envelope);
  if (reported === undefined) return undefined;
  const attempt = envelope.status?.attempt ?? 1;
  return { ...reported, event, actor, attempt, route: sentOn.route, at: timestampText(now) };
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
