import { BatchProcessor, EventType, processPartialResponse } from '@aws-lambda-powertools/batch';
import type { Context, SQSBatchResponse, SQSEvent, SQSRecord } from 'aws-lambda';
import { nextMessage } from './next-message.ts';
import { sendAll } from './send-all.ts';

const processor = new BatchProcessor(EventType.SQS);

/** The same with Powertools' batch processor. The sends are those of the plain handler. */
export async function handler(event: SQSEvent, context: Context): Promise<SQSBatchResponse> {
  const messages = new Map<string, string>();
  const keep = async ({ messageId, body }: SQSRecord) => {
    messages.set(messageId, await nextMessage(body));
  };
  const { batchItemFailures } = await processPartialResponse(event, keep, processor, {
    context,
    throwOnFullBatchFailure: false,
  });
  const refused = await sendAll(messages);
  return { batchItemFailures: [...batchItemFailures, ...refused.map((id) => ({ itemIdentifier: id }))] };
}
