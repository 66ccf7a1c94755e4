import type { ContractSubject } from '../contract-subject.ts';
import { brokerNamed } from './make-memory-transport.ts';

/** The broker of the worker tests. It has to behave like the real ones, or those tests prove nothing. */
export const MEMORY: ContractSubject = {
  name: 'memory (tests only)',
  features: {
    delays: 'yes',
    redeliversAfterTimeout: 'yes',
    countsReceives: 'yes',
    deadLetters: 'yes',
    refusesLargeBodies: 'yes',
    batchesSends: { no: 'it sends each message individually' },
    settlesAfterReconnect: 'yes',
    rawAstralCharacters: 'yes',
    reportsMissingQueues: 'yes',
    createsQueues: 'yes',
    describesQueues: { no: 'its queues have no attributes' },
    failsSingleSends: { no: 'it sends each message individually, without batches' },
    outages: { no: 'it runs in this process, without a network' },
    deepQueues: { no: 'each receive scans all messages, which is fast enough for the worker tests' },
  },
  start: async () => {
    const name = 'contract';
    const broker = brokerNamed(name);
    const unavailable = () => {
      throw new Error('not supported, according to the features');
    };
    const maker = {
      module: new URL('make-memory-transport.ts', import.meta.url).href,
      options: { broker: name },
    };
    return {
      maker,
      breakableMaker: maker,
      maxReceiveCount: 5,
      createQueue: async (queue) => broker.createQueue(queue),
      createPlainQueue: async (queue) => broker.createQueue(queue),
      deleteQueue: async (queue) => broker.deleteQueue(queue),
      describeQueue: unavailable,
      plannedQueues: unavailable,
      failEntries: unavailable,
      beginOutage: unavailable,
      close: async () => {},
    };
  },
};
