import { DELAY, DELAYED_TOPIC } from '../core/pipeline/delayer.ts';
import { durationText } from '../core/text/duration.ts';
import type { PublishedMessage } from '../ports/publish.ts';
import { EVENT_TIME, type EventTime, type PipelineMessage, RETRY_COUNT } from './message.ts';

/** For whoever uses this module by itself. */
export { DEFAULT_DELAYER_TOPIC, DELAY, DELAYED_TOPIC } from '../core/pipeline/delayer.ts';

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
