import { isUtf8 } from 'node:buffer';
import { createHash } from 'node:crypto';
import type { ConsumeMessage } from 'amqplib';
import { linkedSignal } from '../../async/linked-signal.ts';
import { unlessAborted } from '../../async/until-aborted.ts';
import { ACCEPTED, type Reply } from '../../ports/reply.ts';
import type { Delivery, Receipt } from '../../ports/transport.ts';
import type { Connection } from './connection.ts';
import { isNotFound, missingQueue, refusalOf } from './refusal.ts';
import { openSession, type Session, type Settlement } from './session.ts';

/** The deliveries of one queue: the broker pushes them over a channel, and `receive` hands them out. */
export interface Consumer {
  receive(maxDeliveries: number, signal: AbortSignal): Promise<Receipt>;
}

export interface ConsumerOptions {
  readonly connection: Connection;
  readonly queue: string;
  /** Most unsettled deliveries that the broker pushes. */
  readonly prefetch: number;
  /** How long a receive waits for deliveries. */
  readonly waitMs: number;
  /** Ends every receive when it aborts. */
  readonly closing: AbortSignal;
}

interface Handle {
  readonly session: Session;
  readonly message: ConsumeMessage;
}

const NOTHING: Receipt = { ok: true, deliveries: [] };

export function queueConsumer({ connection, queue, prefetch, waitMs, closing }: ConsumerOptions): Consumer {
  let opening: Promise<Session> | undefined;
  let lastSignal: AbortSignal | undefined;

  function currentSession(): Promise<Session> {
    if (opening !== undefined) return opening;
    const opened = openSession(connection, queue, prefetch).catch((error) => {
      // A later receive may already have opened another session.
      if (opening === opened) opening = undefined;
      throw error;
    });
    opening = opened;
    return opened;
  }

  /** Retires the session when the signal of the last receive aborts, even if no receive is in flight by then. */
  function retireWith(signal: AbortSignal): void {
    if (lastSignal === signal) return;
    lastSignal?.removeEventListener('abort', retire);
    lastSignal = signal;
    signal.addEventListener('abort', retire, { once: true });
  }

  function retire(): void {
    const opened = opening;
    opening = undefined;
    opened?.then(
      (session) => session.retire(),
      () => {},
    );
  }

  /** The open session. Replaces one that ended between two receives. */
  async function openedSession(): Promise<Session> {
    const current = currentSession();
    const session = await current;
    if (session.end === undefined) return session;
    if (opening === current) opening = undefined;
    return openedSession();
  }

  async function receive(
    maxDeliveries: number,
    ending: AbortSignal,
    isLastAttempt: boolean,
  ): Promise<Receipt> {
    const session = await unlessAborted(openedSession(), ending);
    while (!ending.aborted) {
      const messages = session.take(maxDeliveries);
      if (messages.length > 0)
        return { ok: true, deliveries: messages.map((message) => deliveryFrom(queue, { session, message })) };
      if (session.end === undefined) {
        await session.change(ending);
        continue;
      }
      if (session.end.why === 'lost') return refusalOf(session.end.error, queue);
      // The queue was deleted, or moved to another node of the broker. A second attempt shows which.
      return isLastAttempt ? missingQueue(queue) : receive(maxDeliveries, ending, true);
    }
    return NOTHING;
  }

  return {
    receive: async (maxDeliveries, signal) => {
      if (signal.aborted || closing.aborted) return NOTHING;
      retireWith(signal);
      const ending = linkedSignal([signal, closing], { timeoutMs: waitMs });
      try {
        return await receive(maxDeliveries, ending.signal, false);
      } catch (error) {
        return error === ending.signal.reason ? NOTHING : refusalOf(error, queue);
      } finally {
        ending.dispose();
      }
    },
  };
}

/** If refused, the message is delivered again: the broker requeues unsettled messages when their channel ends. */
export async function settleDelivery(
  delivery: Delivery,
  settlement: Settlement,
  checkQueue: (queue: string) => Promise<Reply>,
): Promise<Reply> {
  const { session, message } = delivery.handle as Handle;
  try {
    await session.settle(message, settlement);
    return ACCEPTED;
  } catch (error) {
    if (isNotFound(error)) return missingQueue(delivery.queue);
    const reply = await checkQueue(delivery.queue);
    if (!reply.ok || settlement.kind === 'release') return reply;
    const problem = `the channel of the delivery has ended, so the broker delivers it again: ${(error as Error).message}`;
    return { ok: false, problem: `${problem} (queue "${delivery.queue}")` };
  }
}

function deliveryFrom(queue: string, handle: Handle): Delivery {
  const { content, fields, properties } = handle.message;
  const count: unknown = properties.headers?.['x-delivery-count'];
  // A classic queue does not set the header, and other senders may write anything into it.
  const before = typeof count === 'number' && count >= 0 ? count : Number(fields.redelivered);
  return {
    body: isUtf8(content) ? content.toString('utf8') : content,
    messageId: messageIdOf(handle.message),
    receiveCount: before + 1,
    queue,
    handle,
  };
}

/** Other senders may set no message id, and the broker has none. The content's hash is the same on every delivery. */
function messageIdOf({ properties, content }: ConsumeMessage): string {
  const { messageId } = properties;
  if (typeof messageId === 'string' && messageId !== '') return messageId;
  return createHash('sha256').update(content).digest('hex').slice(0, 32);
}
