import { rabbitMqTransport } from '../../../lib/adapters/rabbitmq/rabbitmq-transport.ts';
import type { Reply } from '../../../lib/ports/reply.ts';
import type { MakerModule } from '../contract-subject.ts';

/** Some laws have many unsettled deliveries at the same time. */
const PREFETCH = 50;
const MISSING_QUEUE = 'law-nowhere';
const TIMEOUT_MS = 60_000;

/** Waits for both connections, because a busy machine may need longer for them than the transport waits. */
export const makeTransport: MakerModule['makeTransport'] = async ({ url, delay, waitMs }) => {
  const made = rabbitMqTransport({
    url: String(url),
    exchange: 'asya',
    prefetch: PREFETCH,
    delay: delay === 'ttl' ? 'ttl' : 'none',
    name: 'contract',
    waitMs,
  });
  await untilAnswered(() => made.checkQueue(MISSING_QUEUE));
  await untilAnswered(() => made.send(MISSING_QUEUE, '1'));
  return made;
};

/** Repeats a call until the broker answers that the queue is missing. Without a connection, the transport waits. */
async function untilAnswered(call: () => Promise<Reply>): Promise<void> {
  const until = Date.now() + TIMEOUT_MS;
  for (;;) {
    const reply = await call();
    if (reply.ok || reply.isQueueMissing) return;
    if (Date.now() > until) throw new Error(`no connection within ${TIMEOUT_MS} ms: ${reply.problem}`);
  }
}
