import { DELAY, DELAYED_TOPIC } from '../core/pipeline/delayer.ts';
import { durationText } from '../core/text/duration.ts';
import type { PublishedMessage } from '../ports/publish.ts';
import { EVENT_TIME, type EventTime, type PipelineMessage, RETRY_COUNT } from './message.ts';

/** Re-exported for users of this module, who do not import the core. */
export { DEFAULT_DELAYER_TOPIC, DELAY, DELAYED_TOPIC } from '../core/pipeline/delayer.ts';

export interface Delayed {
  readonly topic: string;
  readonly delaySeconds: number;
  /** Number of retries, including this one. */
  readonly retryCount: number;
  readonly eventTime: EventTime;
}

/** The message as it is published to the delayer. */
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
