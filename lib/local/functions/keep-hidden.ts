import type { Message } from '@aws-sdk/client-sqs';
import type { Clock } from '../../ports/clock.ts';
import type { Attachment } from '../debugger/attachment.ts';
import type { EventQueue } from './event-queue.ts';

export interface HiddenMessages {
  readonly queue: Pick<EventQueue, 'hide'>;
  readonly messages: readonly Message[];
  readonly attachment: Attachment;
  /** The queue's visibility timeout. */
  readonly visibilitySeconds: number;
  /** Aborts when the messages have been processed. */
  readonly over: AbortSignal;
  readonly clock: Clock;
}

/** Messages are extended long before they become visible, because a request may fail. */
const EXTEND_AFTER = 1 / 4;

/**
 * Hides messages again and again while a debugger is attached, so that they are not delivered twice. After it has left,
 * they are hidden for a whole visibility timeout, which is longer than the time that the function has left.
 */
export async function keepHidden(hidden: HiddenMessages): Promise<void> {
  const { queue, messages, attachment, visibilitySeconds, over, clock } = hidden;
  let wasAttached = false;
  while (!over.aborted) {
    const changed = new AbortController();
    const stopListening = attachment.onChange(() => changed.abort());
    const { isAttached } = attachment;
    if (isAttached || wasAttached) await hide();
    wasAttached = isAttached;
    const waitMs = isAttached ? visibilitySeconds * 1000 * EXTEND_AFTER : Number.POSITIVE_INFINITY;
    await clock.sleep(waitMs, AbortSignal.any([over, changed.signal]));
    stopListening();
  }

  /** If the queue does not respond, the next extension follows soon enough. */
  async function hide(): Promise<void> {
    await queue.hide(messages, visibilitySeconds).catch(() => {});
  }
}
