import { createHash, getFips } from 'node:crypto';
import type { Message, SendMessageBatchRequestEntry, SendMessageBatchResultEntry } from '@aws-sdk/client-sqs';
import type { BatchResult } from './batch-entries.ts';

/** Counts the entries as failed whose body arrived with another digest than it was sent with. */
export function withCheckedBodies(
  entries: readonly SendMessageBatchRequestEntry[],
  { Successful = [], Failed = [] }: BatchResult,
): BatchResult {
  const bodies = new Map(entries.map(({ Id, MessageBody }) => [Id, MessageBody]));
  const wrong = new Set(
    (Successful as readonly SendMessageBatchResultEntry[])
      .filter(({ Id, MD5OfMessageBody }) => !isDigestOf(MD5OfMessageBody, bodies.get(Id)))
      .map(({ Id }) => Id),
  );
  if (wrong.size === 0) return { Successful, Failed };
  const problem = {
    Code: 'InvalidChecksum',
    Message: 'SQS received another body than was sent',
    SenderFault: false,
  };
  return {
    Successful: Successful.filter(({ Id }) => !wrong.has(Id)),
    Failed: [...Failed, ...[...wrong].map((Id) => ({ Id, ...problem }))],
  };
}

/** Throws if the body of a message is not the one that SQS has. */
export function checkReceivedBodies(messages: readonly Message[]): void {
  const wrong = messages.filter(({ Body, MD5OfBody }) => !isDigestOf(MD5OfBody, Body));
  if (wrong.length === 0) return;
  const ids = wrong.map(({ MessageId }) => MessageId).join(', ');
  throw Object.assign(new Error(`received another body than SQS has, of messages ${ids}`), {
    name: 'InvalidChecksum',
  });
}

/** Node in FIPS mode has no MD5. */
function isDigestOf(digest: string | undefined, body = ''): boolean {
  return getFips() === 1 || digest === createHash('md5').update(body).digest('hex');
}
