import { durationText } from '../core/duration.ts';
import type { PublishedMessage } from '../ports/publish.ts';
import { EVENT_TIME, type EventTime, type PipelineMessage, RETRY_COUNT } from './message.ts';

/** How the delayer is asked: publish it to that topic, after so long. */
export const DELAY = 'me-pubsub-delayer/delay';
export const DELAYED_TOPIC = 'me-pubsub-delayer/topic';
export const DEFAULT_DELAYER_TOPIC = 'me-pubsub-delayer';

export interface Delayed {
  readonly topic: string;
  readonly delaySeconds: number;
  /** Retries made, this one included. */
  readonly retryCount: number;
  readonly eventTime: EventTime;
}

/** The message once more, for the delayer. */
export function delayedMessage<Data>(
  message: PipelineMessage<Data>,
  { topic, delaySeconds, retryCount, eventTime }: Delayed,
): PublishedMessage<Data> {
  return {
    data: message.data,
    attributes: {
      ...message.attributes,
      [RETRY_COUNT]: String(retryCount),
      [EVENT_TIME]: eventTime.text,
      [DELAY]: durationText(Math.round(delaySeconds * 1000)),
      [DELAYED_TOPIC]: topic,
    },
  };
}
