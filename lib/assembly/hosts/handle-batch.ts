import type { SQSBatchResponse, SQSRecord } from 'aws-lambda';
import { type DeliveryLine, handleDelivery } from '../../app/delivery/handle-delivery.ts';
import { once } from '../../async/once.ts';
import { semaphore } from '../../async/semaphore.ts';
import { releasePauseMs } from '../../core/delivery/release-pause.ts';
import { stackText } from '../../core/text/error-text.ts';
import type { Delivery, Transport } from '../../ports/transport.ts';

export interface BatchHost {
  readonly line: DeliveryLine;
  readonly transport: Transport;
  /** How many calls the runtime runs at the same time. It may accept more. */
  readonly concurrency: number;
  /** The time until Lambda ends the invocation, minus the time that the last sends need. */
  readonly timeLeftMs: () => number;
}

/** Processes each record of a batch independently: a failed record never fails another one. */
export async function handleBatch(records: readonly SQSRecord[], host: BatchHost): Promise<SQSBatchResponse> {
  const { runtime, progress } = host.line;
  const slots = semaphore(() => runtime.capacity?.() ?? host.concurrency);
  const sends = lastSends(records.length, host.transport);
  let calls = records.length;
  let flushing: Promise<void> | undefined;
  const onCallEnded = () => {
    slots.release();
    // Afterwards there are no reports: they are sent while the last envelopes are.
    if (--calls === 0) flushing = progress?.flush();
  };
  const failures = await Promise.all(
    records.map(async (record) => {
      await slots.acquire();
      const isDone = await handleRecord(record, { onCallEnded, onSent: sends.ofRecord() }, host);
      return isDone ? [] : [{ itemIdentifier: record.messageId }];
    }),
  );
  // Lambda may freeze the process until the next invocation.
  await flushing;
  return { batchItemFailures: failures.flat() };
}

/**
 * Flushes the transport as soon as no record of the batch can still add a send: then every record waits for replies or is
 * done. Waiting longer for more sends would only cost time.
 */
function lastSends(count: number, transport: Transport): { ofRecord(): () => void } {
  let stillWorking = count;
  return {
    /** Called each time the record has added its sends, and when it is done. */
    ofRecord: () => {
      let isWorking = true;
      return () => {
        if (isWorking) stillWorking--;
        isWorking = false;
        if (stillWorking === 0) transport.flush?.();
      };
    },
  };
}

interface RecordHost {
  /** Lets the next record start. */
  readonly onCallEnded: () => void;
  readonly onSent: () => void;
}

/** False if SQS has to redeliver the record. Never throws: a bug fails only this record. */
async function handleRecord(
  record: SQSRecord,
  recordHost: RecordHost,
  { line, transport, timeLeftMs }: BatchHost,
): Promise<boolean> {
  const { onSent } = recordHost;
  const onCallEnded = once(recordHost.onCallEnded);
  try {
    const delivery = deliveryFromRecord(record);
    const host = { timeLeftMs: timeLeftMs(), onCallEnded, onSent };
    const { settle } = await handleDelivery(delivery, host, line);
    if (settle === 'ack') return true;
    const releasing = transport.nack(delivery, releasePauseMs(delivery.receiveCount));
    onSent();
    const reply = await releasing;
    if (!reply.ok)
      line.telemetry.warn('a delivery could not be released', {
        messageId: delivery.messageId,
        problem: reply.problem,
      });
  } catch (error) {
    const problem = stackText(error);
    line.telemetry.warn('internal error in the sidecar', { messageId: record.messageId, problem });
  } finally {
    onCallEnded();
    onSent();
  }
  return false;
}

function deliveryFromRecord(record: SQSRecord): Delivery {
  return {
    body: record.body,
    messageId: record.messageId,
    receiveCount: Number(record.attributes.ApproximateReceiveCount),
    queue: record.eventSourceARN.slice(record.eventSourceARN.lastIndexOf(':') + 1),
    handle: record.receiptHandle,
  };
}
