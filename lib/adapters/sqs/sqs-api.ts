import type {
  ChangeMessageVisibilityBatchRequest,
  ChangeMessageVisibilityBatchResult,
  CreateQueueRequest,
  CreateQueueResult,
  DeleteMessageBatchRequest,
  DeleteMessageBatchResult,
  GetQueueAttributesRequest,
  GetQueueAttributesResult,
  GetQueueUrlRequest,
  GetQueueUrlResult,
  ReceiveMessageRequest,
  ReceiveMessageResult,
  SendMessageBatchRequest,
  SendMessageBatchResult,
  SetQueueAttributesRequest,
} from '@aws-sdk/client-sqs';

/** The operations of SQS that are used: what each takes and returns. */
export interface SqsOperations {
  readonly SendMessageBatch: readonly [SendMessageBatchRequest, SendMessageBatchResult];
  readonly ChangeMessageVisibilityBatch: readonly [
    ChangeMessageVisibilityBatchRequest,
    ChangeMessageVisibilityBatchResult,
  ];
  readonly DeleteMessageBatch: readonly [DeleteMessageBatchRequest, DeleteMessageBatchResult];
  readonly ReceiveMessage: readonly [ReceiveMessageRequest, ReceiveMessageResult];
  readonly GetQueueUrl: readonly [GetQueueUrlRequest, GetQueueUrlResult];
  readonly GetQueueAttributes: readonly [GetQueueAttributesRequest, GetQueueAttributesResult];
  readonly CreateQueue: readonly [CreateQueueRequest, CreateQueueResult];
  readonly SetQueueAttributes: readonly [SetQueueAttributesRequest, object];
}

export type SqsOperation = keyof SqsOperations;

interface SqsCallOptions {
  /** How long an attempt waits for its response. @default longer than the longest poll */
  readonly timeoutMs?: number;
  readonly signal?: AbortSignal;
}

/** A client of SQS: that of the AWS SDK (`sdkSqs`) or our own (`slimSqs`). */
export interface SqsApi {
  /**
   * Calls an operation. The client retries where that can help, and checks the digests of bodies. Rejects with an error
   * whose name is the error's code.
   */
  call<Name extends SqsOperation>(
    operation: Name,
    input: SqsOperations[Name][0],
    options?: SqsCallOptions,
  ): Promise<SqsOperations[Name][1]>;
  close(): void;
}
