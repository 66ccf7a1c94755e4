import { SQSClient } from '@aws-sdk/client-sqs';
import { ensureQueue } from '../../adapters/sqs/ensure-queue.ts';
import { queueDepths } from '../../adapters/sqs/queue-depths.ts';
import { sdkSqs } from '../../adapters/sqs/sdk-sqs.ts';
import { LOCAL_REGION } from '../engines/engines.ts';
import { runOnLambda } from './actor-runner.ts';
import type { MeshBroker } from './mesh-broker.ts';

/** SQS and Lambda: the embedded engine, with event sources that invoke functions. */
export function sqsBroker(endpoint: string): MeshBroker {
  const client = new SQSClient({
    endpoint,
    region: LOCAL_REGION,
    useQueueUrlAsEndpoint: false,
    credentials: { accessKeyId: 'local', secretAccessKey: 'local' },
  });
  const sqs = sdkSqs(client);
  return {
    description: `SQS at ${endpoint}`,
    variables: { ASYA_TRANSPORT: 'sqs', ASYA_SQS_ENDPOINT: endpoint, ASYA_SQS_CLIENT: 'sdk' },
    gatewayWorksTimers: false,
    ensureQueue: async ({ name, plan }) => {
      await ensureQueue(sqs, name, plan, { onDifference: 'update' });
    },
    depths: (queue) => queueDepths(sqs, queue),
    run: (options) => runOnLambda(options, client),
    close: async () => client.destroy(),
  };
}
