import type { Message } from '@aws-sdk/client-sqs';
import { namedErrorText } from '../../core/text/error-text.ts';
import { ACCEPTED, type Refusal, type Reply } from '../../ports/reply.ts';
import type { Delivery } from '../../ports/transport.ts';
import type { BatchResult } from './batch-entries.ts';
import { isQueueMissing } from './queue-attributes.ts';

/**
 * A request may succeed while some of its entries fail. An entry was not accepted if the response does not mention it, or
 * contradicts itself about it.
 */
export function repliesOf(count: number, { Successful = [], Failed = [] }: BatchResult): readonly Reply[] {
  const succeeded = new Set(Successful.map(({ Id }) => Id));
  const failed = new Map(Failed.map((entry) => [entry.Id, entry]));
  return Array.from({ length: count }, (_, index) => {
    const id = String(index);
    const { Code = 'NoResult', Message = 'the response does not mention this entry' } = failed.get(id) ?? {};
    const isAccepted = succeeded.has(id) && !failed.has(id);
    return isAccepted ? ACCEPTED : { ok: false, problem: `${Code}: ${Message}` };
  });
}

export function deliveryFromMessage(message: Message, queue: string): Delivery {
  return {
    body: message.Body ?? '',
    messageId: message.MessageId ?? '',
    receiveCount: Number(message.Attributes?.ApproximateReceiveCount ?? 1),
    queue,
    handle: message.ReceiptHandle ?? '',
  };
}

export function refusalOf(error: unknown, queue: string): Refusal {
  if (isQueueMissing(error))
    return { ok: false, problem: `queue "${queue}" does not exist`, isQueueMissing: true };
  return { ok: false, problem: `${namedErrorText(error)} (queue "${queue}")` };
}
