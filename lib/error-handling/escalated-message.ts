import { capTraceback, type Fault } from '../core/envelope/fault.ts';
import { maxTextBytes, withAttributes } from '../core/pipeline/attribute-limits.ts';
import { DELAY, DELAYED_TOPIC } from '../core/pipeline/delayer.ts';
import { headWithinUtf8 } from '../core/text/utf8.ts';
import type { PublishedMessage } from '../ports/publish.ts';
import {
  type Attributes,
  dataBytesOf,
  EVENT_TIME,
  type EventTime,
  type PipelineMessage,
  RETRY_COUNT,
} from './message.ts';

export interface Escalation {
  readonly fault: Fault;
  readonly reason: 'escalated' | 'expired';
  /** The topic it was consumed from. Publish the message there to process it again. */
  readonly topic: string;
  readonly retryCount: number;
  readonly eventTime: EventTime;
}

/**
 * The message for the errors topic: unchanged data, so that it can be published again; the original attributes,
 * including trace context; and further attributes that describe the error.
 */
export function escalatedMessage<Data>(
  message: PipelineMessage<Data>,
  escalation: Escalation,
): PublishedMessage<Data> {
  const { [DELAY]: _delay, [DELAYED_TOPIC]: _topic, ...kept } = message.attributes ?? {};
  const dataBytes = dataBytesOf(message);
  const added = errorAttributes(message, escalation, maxTextBytes(kept, dataBytes));
  return { data: message.data, attributes: withAttributes(kept, added, dataBytes) };
}

/** Most important first: if there is not enough room, the last ones are left out. */
function errorAttributes({ id }: PipelineMessage, escalation: Escalation, longestBytes: number): Attributes {
  const { fault, reason, topic, retryCount, eventTime } = escalation;
  const { type, message, traceback, httpStatus } = fault;
  return {
    [RETRY_COUNT]: String(retryCount),
    [EVENT_TIME]: eventTime.text,
    errorType: headWithinUtf8(type, longestBytes),
    errorMessage: headWithinUtf8(message, longestBytes),
    errorReason: reason,
    errorTopic: topic,
    errorMessageId: String(id),
    ...(httpStatus !== undefined && { errorHttpStatus: String(httpStatus) }),
    errorTraceback: capTraceback(traceback, longestBytes),
  };
}
