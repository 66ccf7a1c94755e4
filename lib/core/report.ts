import type { Envelope } from './envelope.ts';
import { errorOf } from './failure.ts';
import { FLOW, headerText, TASK } from './headers.ts';
import { endedAt, endOf } from './record.ts';
import { hopOf } from './route.ts';

/** What the gateway is told of an envelope that belongs to a task. Never its payload. */
export interface Report {
  readonly task: string;
  readonly flow?: string;
  readonly envelope_id: string;
  readonly parent_id?: string;
  readonly event: 'final';
  readonly actor: string;
  readonly hop: number;
  readonly phase: 'succeeded' | 'failed' | 'canceled';
  readonly reason?: string;
  readonly error?: { readonly type: string; readonly message: string };
  readonly at?: string;
  /** Where the whole envelope is kept. */
  readonly archive_key: string;
}

/** The report of an envelope's end; undefined where no task waits for it. */
export function finalReportOf(envelope: Envelope, archiveKey: string): Report | undefined {
  const task = headerText(envelope.headers, TASK);
  if (task === undefined) return undefined;
  const flow = headerText(envelope.headers, FLOW);
  const { id, parent_id, status } = envelope;
  const { type, message } = errorOf(envelope);
  const phase = endOf(envelope);
  return {
    task,
    ...(flow === undefined ? {} : { flow }),
    envelope_id: id,
    ...(parent_id === undefined ? {} : { parent_id }),
    event: 'final',
    actor: endedAt(envelope),
    hop: hopOf(envelope.route),
    phase,
    ...(typeof status?.reason === 'string' ? { reason: status.reason } : {}),
    ...(phase === 'failed' ? { error: { type, message } } : {}),
    ...(typeof status?.updated_at === 'string' ? { at: status.updated_at } : {}),
    archive_key: archiveKey,
  };
}
