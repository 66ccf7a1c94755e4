import type { DeriveId } from '../envelope/decode.ts';
import { durationText } from '../text/duration.ts';
import { type CountBytes, headWithinUtf8 } from '../text/utf8.ts';
import { maxTextBytes, withAttributes } from './attribute-limits.ts';
import { type Attributes, fullTopicName, readDelayRequest } from './delay-request.ts';
import { MAX_DELAY_MS } from './delayer.ts';
import { type QueueMapping, queueForTopic } from './queue-mapping.ts';

/** A message that asks to be published later. Its data stays in base64 all the way: nobody here has to read it. */
export interface MessageToDelay {
  readonly id: string;
  /** The full name of the subscription it came by. */
  readonly subscription: string;
  readonly dataBase64: string;
  readonly attributes: Attributes;
  readonly publishMs: number;
}

/** What is to be published, where and when. */
export interface Publication {
  /** The same for every delivery of the same message: letters, digits and dashes. */
  readonly name: string;
  readonly queue: string;
  readonly dueMs: number;
  /** The topic's full name. */
  readonly topic: string;
  /** The request that publishes it, as Pub/Sub's `publish` takes it. */
  readonly body: string;
}

export type DelayPlan =
  | { readonly kind: 'schedule'; readonly publication: Publication }
  /** It will never work: for the errors topic. */
  | { readonly kind: 'refuse'; readonly reason: DelayRefusal; readonly problem: string };

export type DelayRefusal = 'unreadable' | 'empty' | 'too-far-ahead' | 'too-large' | 'rejected';

export interface DelayRules {
  readonly project: string;
  readonly queues: QueueMapping;
  readonly deriveId: DeriveId;
  readonly countBytes: CountBytes;
}

/** Cloud Tasks takes no larger one: its body, its address, its name and its headers have to find room in it. */
export const MAX_TASK_BYTES = 1_000_000;
const TASK_OVERHEAD_BYTES = 4_096;
export const MAX_PUBLISH_BYTES = MAX_TASK_BYTES - TASK_OVERHEAD_BYTES;

/** Counted from the publishing, not from now: delivered again, the message is due when it was due. */
export function planDelay(message: MessageToDelay, rules: DelayRules): DelayPlan {
  const request = readDelayRequest(message.attributes);
  if ('problem' in request) return { kind: 'refuse', reason: 'unreadable', problem: request.problem };
  const { delayMs } = request;
  if (delayMs > MAX_DELAY_MS) {
    const problem = `the delay is ${durationText(delayMs)}; Cloud Tasks takes ${durationText(MAX_DELAY_MS)} (30 days) at most`;
    return { kind: 'refuse', reason: 'too-far-ahead', problem };
  }
  if (message.dataBase64 === '' && Object.keys(request.attributes).length === 0) {
    const problem =
      'it has no data, and no attributes but those that ask for the delay; Pub/Sub takes no empty message';
    return { kind: 'refuse', reason: 'empty', problem };
  }
  const body = publishBody(message.dataBase64, request.attributes);
  const bytes = rules.countBytes(body);
  if (bytes > MAX_PUBLISH_BYTES) {
    const problem = `takes ${bytes} bytes as a request to publish it (data in base64); ${MAX_PUBLISH_BYTES} fit into a task`;
    return { kind: 'refuse', reason: 'too-large', problem };
  }
  const topic = fullTopicName(request.topic, rules.project);
  const publication = {
    // The time too: an emulator counts its ids from 1 whenever it starts, and names outlive it.
    name: rules.deriveId('delayed', message.subscription, message.id, message.publishMs),
    queue: queueForTopic(topic, rules.project, rules.queues),
    dueMs: message.publishMs + delayMs,
    topic,
    body,
  };
  return { kind: 'schedule', publication };
}

/** What Pub/Sub's `publish` takes, for one message. */
export function publishBody(dataBase64: string, attributes: Attributes): string {
  const data = dataBase64 === '' ? {} : { data: dataBase64 };
  return JSON.stringify({ messages: [{ ...data, attributes }] });
}

/**
 * The message for the errors topic: data and attributes as they came, those that asked for the delay among them, so that
 * it can be put right and published to the delayer once more; and what was wrong, named as in any other escalation.
 */
export function refusedAttributes(
  { id, subscription, dataBase64, attributes }: Omit<MessageToDelay, 'publishMs'>,
  { reason, problem }: { readonly reason: DelayRefusal; readonly problem: string },
): Attributes {
  const longest = maxTextBytes(attributes, dataBase64.length);
  const added = {
    errorType: 'DelayRefused',
    errorMessage: headWithinUtf8(problem, longest),
    errorReason: reason,
    errorMessageId: id,
    errorSubscription: headWithinUtf8(subscription, longest),
  };
  return withAttributes(attributes, added, dataBase64.length);
}
