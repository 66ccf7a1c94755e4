import { SQS_RECORD } from '../../../lib/adapters/sqs/sqs-features.ts';
import type { EmbeddedSqs } from '../../support/embedded-sqs.ts';
import type { SidecarBroker } from './sidecar-broker.ts';

export function sqsBroker(sqs: EmbeddedSqs): SidecarBroker {
  return {
    name: 'sqs',
    variables: { ASYA_SQS_ENDPOINT: sqs.endpoint, ASYA_SQS_WAIT_TIME_SECONDS: '1' },
    delays: SQS_RECORD.features.delays,
    anyBytes: { no: 'SQS carries text' },
    countsHidden: true,
    createQueue: async (queue) => {
      await sqs.createQueue(queue);
    },
    send: (queue, body) => sqs.send(queue, typeof body === 'string' ? body : new TextDecoder().decode(body)),
    take: async (queue) => (await sqs.take(queue)).map(({ Body = '' }) => Body),
    leftIn: async (queues) => {
      const left: Record<string, number> = {};
      for (const queue of queues) {
        const { visible, hidden, delayed } = await sqs.counts(queue);
        left[queue] = visible + hidden + delayed;
      }
      return left;
    },
    close: () => sqs.close(),
  };
}
