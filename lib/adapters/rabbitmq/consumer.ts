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

/** A queue's deliveries, asked for by whoever has room for them, though the broker pushes. */
export interface Consumer {
  receive(most: number, signal: AbortSignal): Promise<Receipt>;
}

export interface ConsumerOptions {
  readonly link: Connection;
  readonly queue: string;
  /** How many unsettled deliveries the broker gives at once. */
  readonly prefetch: number;
  readonly waitMs: number;
  /** Ends every receive. */
  readonly closing: AbortSignal;
}

interface Handle {
  readonly session: Session;
  readonly message: ConsumeMessage;
}

const NOTHING: Receipt = { ok: true, deliveries: [] };

export function queueConsumer({ link, queue, prefetch, waitMs, closing }: ConsumerOptions): Consumer {
  let opening: Promise<Session> | undefined;
  let told: AbortSignal | undefined;

  function sessionNow(): Promise<Session> {
    if (opening !== undefined) return opening;
    const standing = openSession(link, queue, prefetch).catch((error) => {
      // Another may have been opened meanwhile, for whoever asked after this one was told to stop.
      if (opening === standing) opening = undefined;
      throw error;
    });
    opening = standing;
    return standing;
  }

  /** Whoever asked last is told to stop: nothing more is fetched for nobody, also where no receive is under way. */
  function standDownWith(signal: AbortSignal): void {
    if (told === signal) return;
    told?.removeEventListener('abort', standDown);
    told = signal;
    signal.addEventListener('abort', standDown, { once: true });
  }

  function standDown(): void {
    const standing = opening;
    opening = undefined;
    standing?.then(
      (session) => session.retire(),
      () => {},
    );
  }

  /** The session that is there; one that ended while nobody asked is of no interest any more. */
  async function livingSession(): Promise<Session> {
    const standing = sessionNow();
    const session = await standing;
    if (session.end === undefined) return session;
    if (opening === standing) opening = undefined;
    return livingSession();
  }

  async function receive(most: number, ending: AbortSignal, isLastTry: boolean): Promise<Receipt> {
    const session = await unlessAborted(livingSession(), ending);
    while (!ending.aborted) {
      const messages = session.take(most);
      if (messages.length > 0)
        return { ok: true, deliveries: messages.map((message) => deliveryFrom(queue, { session, message })) };
      if (session.end === undefined) {
        await session.change(ending);
        continue;
      }
      if (session.end.why === 'lost') return refusalOf(session.end.error, queue);
      // Deleted, or moved to another node of the broker: asking again tells which.
      return isLastTry ? missingQueue(queue) : receive(most, ending, true);
    }
    return NOTHING;
  }

  return {
    receive: async (most, signal) => {
      if (signal.aborted || closing.aborted) return NOTHING;
      standDownWith(signal);
      const ending = linkedSignal([signal, closing], { timeoutMs: waitMs });
      try {
        return await receive(most, ending.signal, false);
      } catch (error) {
        return error === ending.signal.reason ? NOTHING : refusalOf(error, queue);
      } finally {
        ending.dispose();
      }
    },
  };
}

/** What is refused here comes again: the broker takes back what it has heard nothing of when its channel ends. */
export async function settleDelivery(
  delivery: Delivery,
  how: Settlement,
  reach: (queue: string) => Promise<Reply>,
): Promise<Reply> {
  const { session, message } = delivery.handle as Handle;
  try {
    await session.settle(message, how);
    return ACCEPTED;
  } catch (error) {
    if (isNotFound(error)) return missingQueue(delivery.queue);
    const reply = await reach(delivery.queue);
    if (!reply.ok || how.kind === 'release') return reply;
    const problem = `the channel that it came on has ended, and the broker delivers it again: ${(error as Error).message}`;
    return { ok: false, problem: `${problem} (queue "${delivery.queue}")` };
  }
}

function deliveryFrom(queue: string, handle: Handle): Delivery {
  const { content, fields, properties } = handle.message;
  const counted: unknown = properties.headers?.['x-delivery-count'];
  // Other senders may write anything there, and a queue that does not count leaves it.
  const before = typeof counted === 'number' && counted >= 0 ? counted : Number(fields.redelivered);
  return {
    body: isUtf8(content) ? content.toString('utf8') : content,
    messageId: messageIdOf(handle.message),
    receiveCount: before + 1,
    queue,
    handle,
  };
}

/** Other senders may give none; the broker has none of its own, and what came says as much when it comes again. */
function messageIdOf({ properties, content }: ConsumeMessage): string {
  const { messageId } = properties;
  if (typeof messageId === 'string' && messageId !== '') return messageId;
  return createHash('sha256').update(content).digest('hex').slice(0, 32);
}
