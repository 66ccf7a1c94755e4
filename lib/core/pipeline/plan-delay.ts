import type { DeriveId } from '../envelope/decode.ts';
import { durationText } from '../text/duration.ts';
import { type CountBytes, headWithinUtf8 } from '../text/utf8.ts';
import { maxTextBytes, withAttributes } from './attribute-limits.ts';
import { type Attributes, fullTopicName, readDelayRequest } from './delay-request.ts';
import { MAX_DELAY_MS } from './delayer.ts';
import { type QueueMapping, queueForTopic } from './queue-mapping.ts';

/** A message that requests a delay. Its data stays in base64, because the delayer does not read it. */
export interface MessageToDelay {
  readonly id: string;
  /** The full name of the subscription that delivered it. */
  readonly subscription: string;
  readonly dataBase64: string;
  readonly attributes: Attributes;
  readonly publishMs: number;
}

/** What to publish, where and when. */
export interface Publication {
  /** The same for every delivery of the same message. It contains letters, digits and dashes. */
  readonly name: string;
  readonly queue: string;
  readonly dueMs: number;
  /** The topic's full name. */
  readonly topic: string;
  /** The body of the request to Pub/Sub's `publish`. */
  readonly body: string;
}

export type DelayPlan =
  | { readonly kind: 'schedule'; readonly publication: Publication }
  /** The request is permanently invalid: the message goes to the errors topic. */
  | { readonly kind: 'refuse'; readonly reason: DelayRefusal; readonly problem: string };

export type DelayRefusal = 'unreadable' | 'empty' | 'too-far-ahead' | 'too-large' | 'rejected';

export interface DelayRules {
  readonly project: string;
  readonly queues: QueueMapping;
  readonly deriveId: DeriveId;
  readonly countBytes: CountBytes;
}

/** Cloud Tasks' limit for a task: body, URL, name and headers together. */
export const MAX_TASK_BYTES = 1_000_000;
const TASK_OVERHEAD_BYTES = 4_096;
export const MAX_PUBLISH_BYTES = MAX_TASK_BYTES - TASK_OVERHEAD_BYTES;

/** Plans a delayed message. The delay starts when the message was published, so a redelivery is due at the same time. */
export function planDelay(message: MessageToDelay, rules: DelayRules): DelayPlan {
  const request = readDelayRequest(message.attributes);
  if ('problem' in request) return { kind: 'refuse', reason: 'unreadable', problem: request.problem };
  const { delayMs } = request;
  if (delayMs > MAX_DELAY_MS) {
    const problem = `the delay is ${durationText(delayMs)}; Cloud Tasks allows at most ${durationText(MAX_DELAY_MS)} (30 days)`;
    return { kind: 'refuse', reason: 'too-far-ahead', problem };
  }
  if (message.dataBase64 === '' && Object.keys(request.attributes).length === 0) {
    const problem =
      'the message has no data and no attributes other than those that request the delay; Pub/Sub rejects empty messages';
    return { kind: 'refuse', reason: 'empty', problem };
  }
  const body = publishBody(message.dataBase64, request.attributes);
  const bytes = rules.countBytes(body);
  if (bytes > MAX_PUBLISH_BYTES) {
    const problem = `the request to publish it has ${bytes} bytes (data in base64); a task of Cloud Tasks allows ${MAX_PUBLISH_BYTES}`;
    return { kind: 'refuse', reason: 'too-large', problem };
  }
  const topic = fullTopicName(request.topic, rules.project);
  const publication = {
    // Includes the time: an emulator restarts its ids at 1 whenever it starts, but task names persist.
    name: rules.deriveId('delayed', message.subscription, message.id, message.publishMs),
    queue: queueForTopic(topic, rules.project, rules.queues),
    dueMs: message.publishMs + delayMs,
    topic,
    body,
  };
  return { kind: 'schedule', publication };
}

/** The body of a request to Pub/Sub's `publish`, for one message. */
export function publishBody(dataBase64: string, attributes: Attributes): string {
  const data = dataBase64 === '' ? {} : { data: dataBase64 };
  return JSON.stringify({ messages: [{ ...data, attributes }] });
}

/**
 * The attributes of a refused message in the errors topic. All original attributes are kept, including those that
 * requested the delay, so that the message can be corrected and published to the delayer again. The problem is added
 * with the same attribute names as in any other escalation.
 */
export function refusedAttributes(
  { id, subscription, dataBase64, attributes }: Omit<MessageToDelay, 'publishMs'>,
  { reason, problem }: { readonly reason: DelayRefusal; readonly problem: string },
): Attributes {
  const maxBytes = maxTextBytes(attributes, dataBase64.length);
  const added = {
    errorType: 'DelayRefused',
    errorMessage: headWithinUtf8(problem, maxBytes),
    errorReason: reason,
    errorMessageId: id,
    errorSubscription: headWithinUtf8(subscription, maxBytes),
  };
  return withAttributes(attributes, added, dataBase64.length);
}
