import { LONGEST_ATTRIBUTE_BYTES, withAttributes } from '../core/attribute-limits.ts';
import { DELAY, DELAYED_TOPIC } from '../core/delayer.ts';
import { capTraceback, type Fault } from '../core/fault.ts';
import { headWithinUtf8 } from '../core/utf8.ts';
import type { PublishedMessage } from '../ports/publish.ts';
import { type Attributes, EVENT_TIME, type EventTime, type PipelineMessage, RETRY_COUNT } from './message.ts';

export interface Escalation {
  readonly fault: Fault;
  readonly reason: 'escalated' | 'expired';
  /** Where it was consumed from, and would have to be published to once more. */
  readonly topic: string;
  readonly retryCount: number;
  readonly eventTime: EventTime;
}

/**
 * The message for the errors topic: the data untouched, so that it can be published once more as it is; the original
 * attributes, the trace context among them; and in further attributes what went wrong.
 */
export function escalatedMessage<Data>(
  message: PipelineMessage<Data>,
  escalation: Escalation,
): PublishedMessage<Data> {
  const { [DELAY]: _delay, [DELAYED_TOPIC]: _topic, ...kept } = message.attributes ?? {};
  return { data: message.data, attributes: withAttributes(kept, errorAttributes(message, escalation)) };
}

/** What matters most comes first: the last ones give way where there is no room. */
function errorAttributes({ id }: PipelineMessage, escalation: Escalation): Attributes {
  const { fault, reason, topic, retryCount, eventTime } = escalation;
  const { type, message, traceback, httpStatus } = fault;
  return {
    [RETRY_COUNT]: String(retryCount),
    [EVENT_TIME]: eventTime.text,
    errorType: headWithinUtf8(type, LONGEST_ATTRIBUTE_BYTES),
    errorMessage: headWithinUtf8(message, LONGEST_ATTRIBUTE_BYTES),
    errorReason: reason,
    errorTopic: topic,
    errorMessageId: String(id),
    ...(httpStatus === undefined ? {} : { errorHttpStatus: String(httpStatus) }),
    errorTraceback: capTraceback(traceback, LONGEST_ATTRIBUTE_BYTES),
  };
}
