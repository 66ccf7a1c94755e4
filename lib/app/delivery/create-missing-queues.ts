import type { Reply } from '../../ports/reply.ts';
import type { Telemetry } from '../../ports/telemetry.ts';
import type { EnsuredQueue, Transport } from '../../ports/transport.ts';

/**
 * The transport of a sidecar with `ASYA_QUEUE_AUTO_CREATE`: a queue that an envelope is sent to and that does not exist
 * is created with its dead-letter queue, and the envelope is sent again. Otherwise a mesh could not start from an empty
 * broker, because each actor creates its own queue only once its sidecar runs.
 */
export function createMissingQueues(transport: Transport, telemetry: Pick<Telemetry, 'warn'>): Transport {
  const creating = new Map<string, Promise<EnsuredQueue>>();

  /** All sends that find the queue missing wait for one creation. */
  function create(queue: string): Promise<EnsuredQueue> {
    const underWay = creating.get(queue);
    if (underWay !== undefined) return underWay;
    const created = transport.ensureQueue(queue).finally(() => creating.delete(queue));
    creating.set(queue, created);
    created.then(
      ({ ok }) => {
        if (ok) telemetry.warn('created a queue that an envelope was sent to', { queue });
      },
      () => {},
    );
    return created;
  }

  async function sendOrCreate(queue: string, send: () => Promise<Reply>): Promise<Reply> {
    const reply = await send();
    if (reply.ok || !reply.isQueueMissing) return reply;
    const created = await create(queue);
    return created.ok
      ? send()
      : { ...reply, problem: `${reply.problem}; creating it failed: ${created.problem}` };
  }

  return {
    ...transport,
    send: (queue, body) => sendOrCreate(queue, () => transport.send(queue, body)),
    sendWithDelay: (queue, body, delayMs) =>
      sendOrCreate(queue, () => transport.sendWithDelay(queue, body, delayMs)),
  };
}
