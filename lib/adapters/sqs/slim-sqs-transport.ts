import type { AwsJsonService } from '../../ports/aws-service.ts';
import type { Clock, Random } from '../../ports/clock.ts';
import type { Transport } from '../../ports/transport.ts';
import { slimSqs } from './slim-sqs.ts';
import { type QueueOptions, transportOver } from './transport-over.ts';

export interface SlimSqsTransportOptions extends Omit<QueueOptions, 'urlOf'> {
  /** SQS. */
  readonly service: AwsJsonService;
  readonly clock: Clock;
  readonly random: Random;
  /** The account that has the queues. @default SQS is asked once for the URL of each queue */
  readonly account?: string;
}

/** SQS by our own client: for functions on Lambda. */
export function slimSqsTransport(options: SlimSqsTransportOptions): Transport {
  const { service, clock, random, account, ...queueOptions } = options;
  const { origin } = service.endpoint;
  return transportOver(slimSqs(service, { clock, random }), {
    ...queueOptions,
    ...(account !== undefined && { urlOf: (queue: string) => `${origin}/${account}/${queue}` }),
  });
}
