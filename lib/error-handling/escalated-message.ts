import { capTraceback, type Fault } from '../core/fault.ts';
import { headWithinUtf8 } from '../core/utf8.ts';
import type { PublishedMessage } from '../ports/publish.ts';
import { DELAY, DELAYED_TOPIC } from './delayed-message.ts';
import { type Attributes, EVENT_TIME, type EventTime, type PipelineMessage, RETRY_COUNT } from './message.ts';

/** Pub/Sub's own limits. */
const MOST_ATTRIBUTES = 100;
const LONGEST_VALUE_BYTES = 1024;

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
  return { data: message.data, attributes: withinLimit(kept, errorAttributes(message, escalation)) };
}

/** What matters most comes first: the last ones give way where there is no room. */
function errorAttributes({ id }: PipelineMessage, escalation: Escalation): Attributes {
  const { fault, reason, topic, retryCount, eventTime } = escalation;
  const { type, message, traceback, httpStatus } = fault;
  return {
    [RETRY_COUNT]: String(retryCount),
    [EVENT_TIME]: eventTime.text,
    errorType: headWithinUtf8(type, LONGEST_VALUE_BYTES),
    errorMessage: headWithinUtf8(message, LONGEST_VALUE_BYTES),
    errorReason: reason,
    errorTopic: topic,
    errorMessageId: String(id),
    ...(httpStatus === undefined ? {} : { errorHttpStatus: String(httpStatus) }),
    errorTraceback: capTraceback(traceback, LONGEST_VALUE_BYTES),
  };
}

/** A message with too many attributes would be refused for ever. */
function withinLimit(kept: Attributes, added: Attributes): Attributes {
  const isReplaced = (name: string) => Object.hasOwn(kept, name);
  const room = MOST_ATTRIBUTES - Object.keys(kept).length;
  const names = Object.keys(added);
  const fitting = names.filter((name) => !isReplaced(name)).slice(0, Math.max(0, room));
  const chosen = names.filter((name) => isReplaced(name) || fitting.includes(name));
  return { ...kept, ...Object.fromEntries(chosen.map((name) => [name, added[name] ?? ''])) };
}
