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
  readonly concurrency: number;
  /** The time until Lambda ends the invocation, minus the time that the last sends need. */
  readonly timeLeftMs: () => number;
}

/** Processes each record of a batch independently: a failed record never fails another one. */
export async function handleBatch(records: readonly SQSRecord[], host: BatchHost): Promise<SQSBatchResponse> {
  const slots = semaphore(host.concurrency);
  let calls = records.length;
  let flushing: Promise<void> | undefined;
  const onCallEnded = () => {
    slots.release();
    // Afterwards there are no reports: they are sent while the last envelopes are.
    if (--calls === 0) flushing = host.line.progress?.flush();
  };
  const failures = await Promise.all(
    records.map(async (record) => {
      await slots.acquire();
      const isDone = await handleRecord(record, onCallEnded, host);
      return isDone ? [] : [{ itemIdentifier: record.messageId }];
    }),
  );
  // Lambda may freeze the process until the next invocation.
  await flushing;
  return { batchItemFailures: failures.flat() };
}

/** False if SQS has to redeliver the record. Never throws: a bug fails only this record. */
async function handleRecord(record: SQSRecord, release: () => void, host: BatchHost): Promise<boolean> {
  const { line, transport, timeLeftMs } = host;
  const onCallEnded = once(release);
  try {
    const delivery = deliveryFromRecord(record);
    const { settle } = await handleDelivery(delivery, { timeLeftMs: timeLeftMs(), onCallEnded }, line);
    if (settle === 'ack') return true;
    const reply = await transport.nack(delivery, releasePauseMs(delivery.receiveCount));
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
