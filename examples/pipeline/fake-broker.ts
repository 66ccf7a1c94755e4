import type { PipelineFact } from '../../lib/error-handling/pipeline-fact.ts';

/** An in-memory broker with a delayer. Its clock jumps to the next message, so 36 hours pass immediately. */

export interface Message {
  readonly id: string;
  readonly data: string;
  readonly attributes: Readonly<Record<string, string>>;
  readonly publishTime: Date;
  ack(): void;
  nack(): void;
}

type Published = Pick<Message, 'data' | 'attributes'>;

interface Waiting extends Published {
  readonly dueMs: number;
}

const UNIT_MS: Readonly<Record<string, number>> = { h: 3_600_000, m: 60_000, s: 1_000, ms: 1 };

function delayMs(text: string): number {
  const parts = text.matchAll(/(\d+)(ms|h|m|s)/g);
  return [...parts].reduce((sum, [, count, unit = 's']) => sum + Number(count) * (UNIT_MS[unit] ?? 0), 0);
}

export function fakeBroker(orders: readonly string[]) {
  let now = Date.UTC(2026, 0, 1);
  let lastId = 0;
  const waiting: Waiting[] = orders.map((data) => ({ data, attributes: {}, dueMs: now }));
  const errors: Published[] = [];
  let retried = 0;

  const time = () => new Date(now).toISOString().slice(5, 19).replace('T', ' ');

  return {
    clock: { now: () => now },

    publish: async (topic: string, message: Published) => {
      if (topic !== 'me-pubsub-delayer') return errors.push(message);
      const dueMs = now + delayMs(message.attributes['me-pubsub-delayer/delay'] ?? '0s');
      return waiting.push({ ...message, dueMs });
    },

    /** Prints the first 20 retries only. */
    onFact: (fact: PipelineFact) => {
      if (fact.fact === 'retried' && ++retried > 20) return;
      console.log(time(), JSON.stringify(fact));
    },

    /** Delivers all messages in order of time, until none are left. */
    deliver: async (listener: (message: Message) => Promise<void>) => {
      for (;;) {
        waiting.sort((one, other) => one.dueMs - other.dueMs);
        const next = waiting.shift();
        if (next === undefined) return;
        now = Math.max(now, next.dueMs);
        const { data, attributes } = next;
        const redeliver = () => waiting.push({ ...next, dueMs: now + 10_000 });
        const message = { id: `m${++lastId}`, data, attributes, publishTime: new Date(now) };
        await listener({ ...message, ack: () => undefined, nack: redeliver });
      }
    },

    printErrors: () => {
      console.log(`${retried} retries in all`);
      for (const { data, attributes } of errors)
        console.log(
          `in the errors topic: ${data}: ${attributes['errorReason']}, ${attributes['errorType']} after ${attributes['retryCount']} retries`,
        );
    },
  };
}
