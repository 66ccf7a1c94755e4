import type { ContractSubject } from '../contract-subject.ts';
import { brokerNamed } from './make-memory-transport.ts';

/** The worker tests' own broker: what they show counts only as far as it behaves like the real ones. */
export const MEMORY: ContractSubject = {
  name: 'memory (tests only)',
  features: {
    delays: 'yes',
    redeliversAfterTimeout: 'yes',
    countsReceives: 'yes',
    deadLetters: 'yes',
    refusesLargeBodies: 'yes',
    batchesSends: { no: 'it sends one by one' },
    settlesAfterReconnect: 'yes',
    rawAstralCharacters: 'yes',
    reportsMissingQueues: 'yes',
    createsQueues: 'yes',
    describesQueues: { no: 'its queues have no attributes' },
    failsSingleSends: { no: 'it sends one by one: there is no batch' },
    outages: { no: 'it lives in this process: there is no network to cut' },
    deepQueues: { no: 'it looks at every message in turn, which is all that the worker tests need' },
  },
  start: async () => {
    const name = 'contract';
    const broker = brokerNamed(name);
    const unavailable = () => {
      throw new Error('no law asks for this, by the features above');
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
