import { rabbitMqTransport } from '../../../lib/adapters/rabbitmq/rabbitmq-transport.ts';
import type { Reply } from '../../../lib/ports/reply.ts';
import type { MakerModule } from '../contract-subject.ts';

/** Laws hold many deliveries at once without settling any. */
const PREFETCH = 50;
const NOWHERE = 'law-nowhere';
const PATIENCE_MS = 60_000;

/** Both of its connections stand: a busy machine may take longer to make one than a transport waits for it. */
export const makeTransport: MakerModule['makeTransport'] = async ({ url, delay, waitMs }) => {
  const made = rabbitMqTransport({
    url: String(url),
    exchange: 'asya',
    prefetch: PREFETCH,
    delay: delay === 'ttl' ? 'ttl' : 'none',
    name: 'contract',
    waitMs,
  });
  await untilAnswered(() => made.reach(NOWHERE));
  await untilAnswered(() => made.send(NOWHERE, '1'));
  return made;
};

/** By the broker, that there is no such queue. Where there is no connection, the transport itself waits in between. */
async function untilAnswered(ask: () => Promise<Reply>): Promise<void> {
  const until = Date.now() + PATIENCE_MS;
  for (;;) {
    const reply = await ask();
    if (reply.ok || reply.isQueueMissing) return;
    if (Date.now() > until) throw new Error(`no connection within ${PATIENCE_MS} ms: ${reply.problem}`);
  }
}
