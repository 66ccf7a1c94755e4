import type { SQSClient } from '@aws-sdk/client-sqs';
import type { Transport } from '../../ports/transport.ts';
import { sdkSqs } from './sdk-sqs.ts';
import { type QueueOptions, transportOver } from './transport-over.ts';

export interface SqsTransportOptions extends QueueOptions {
  readonly client: SQSClient;
}

/** SQS by the client of the AWS SDK: for workers, commands and the local mesh. */
export function sqsTransport({ client, ...options }: SqsTransportOptions): Transport {
  return transportOver(sdkSqs(client), options);
}
