import { SendMessageBatchCommand, SQSClient } from '@aws-sdk/client-sqs';

const client = new SQSClient({});

/** Sends at most ten messages by the ids of their records. Returns the ids that SQS did not accept. */
export async function sendAll(messages: ReadonlyMap<string, string>): Promise<readonly string[]> {
  if (messages.size === 0) return [];
  const ids = [...messages.keys()];
  const { Failed = [] } = await client.send(
    new SendMessageBatchCommand({
      QueueUrl: process.env['NEXT_QUEUE_URL'],
      Entries: [...messages.values()].map((MessageBody, index) => ({ Id: String(index), MessageBody })),
    }),
  );
  return Failed.flatMap(({ Id }) => ids[Number(Id)] ?? []);
}
