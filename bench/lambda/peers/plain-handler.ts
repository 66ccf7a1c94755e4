import type { SQSBatchResponse, SQSEvent } from 'aws-lambda';
import { nextMessage } from './next-message.ts';
import { sendAll } from './send-all.ts';

/** The handler that people write by hand: calls the function in-process, and sends the batch with the AWS SDK. */
export async function handler({ Records }: SQSEvent): Promise<SQSBatchResponse> {
  const messages = new Map<string, string>();
  const failed: string[] = [];
  for (const { messageId, body } of Records) {
    try {
      messages.set(messageId, await nextMessage(body));
    } catch (error) {
      console.error(error);
      failed.push(messageId);
    }
  }
  failed.push(...(await sendAll(messages)));
  return { batchItemFailures: failed.map((itemIdentifier) => ({ itemIdentifier })) };
}
