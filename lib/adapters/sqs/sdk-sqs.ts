import {
  ChangeMessageVisibilityBatchCommand,
  CreateQueueCommand,
  DeleteMessageBatchCommand,
  GetQueueAttributesCommand,
  GetQueueUrlCommand,
  ReceiveMessageCommand,
  SendMessageBatchCommand,
  SetQueueAttributesCommand,
  type SQSClient,
} from '@aws-sdk/client-sqs';
import { defined } from '../../core/text/defined.ts';
import type { SqsApi, SqsOperation } from './sqs-api.ts';

const COMMANDS = {
  SendMessageBatch: SendMessageBatchCommand,
  ChangeMessageVisibilityBatch: ChangeMessageVisibilityBatchCommand,
  DeleteMessageBatch: DeleteMessageBatchCommand,
  ReceiveMessage: ReceiveMessageCommand,
  GetQueueUrl: GetQueueUrlCommand,
  GetQueueAttributes: GetQueueAttributesCommand,
  CreateQueue: CreateQueueCommand,
  SetQueueAttributes: SetQueueAttributesCommand,
} as const satisfies Readonly<Record<SqsOperation, unknown>>;

/** Operations and commands match by name, which the type checker cannot follow. */
type AnyCommand = new (input: object) => SendMessageBatchCommand;

/** SQS by the client of the AWS SDK. */
export function sdkSqs(client: SQSClient): SqsApi {
  return {
    call: (operation, input, { timeoutMs, signal } = {}) => {
      const Command = COMMANDS[operation] as unknown as AnyCommand;
      const options = defined({ requestTimeout: timeoutMs, abortSignal: signal });
      return client.send(new Command(input), options) as Promise<never>;
    },
    close: () => client.destroy(),
  };
}
