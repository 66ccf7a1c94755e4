import type { Delivery } from '../../ports/transport.ts';
import { isBase64 } from './base64.ts';
import { receiveCountOf } from './receive-count.ts';

export type PushReading =
  | { readonly delivery: Delivery }
  /** Why it is not a push of Pub/Sub. Does not contain the payload. */
  | { readonly problem: string };

/** Reads what a push subscription posts. The HTTP response settles the delivery, so it has no handle. */
export function deliveryFromPush(text: string): PushReading {
  const push = parsed(text);
  if (!isRecord(push)) {
    return {
      problem: `the request's body (${text.length} characters) is not a JSON object; ${EXPECTED}`,
    };
  }
  const { message, subscription, deliveryAttempt = 1 } = push;
  if (!isRecord(message)) {
    return { problem: `the request's body has no object "message"; ${EXPECTED}` };
  }
  const { data = '', messageId, attributes } = message;
  if (typeof messageId !== 'string' || messageId === '') {
    return { problem: 'the pushed message has no "messageId"; Pub/Sub sets it on every message' };
  }
  if (typeof subscription !== 'string' || !SUBSCRIPTION.test(subscription)) {
    const problem = `"subscription" of the push is ${JSON.stringify(subscription)}; expected "projects/{project}/subscriptions/{name}"`;
    return { problem };
  }
  if (typeof data !== 'string' || !isBase64(data)) {
    return { problem: `the data of the pushed message ${messageId} is not base64` };
  }
  if (!isCount(deliveryAttempt)) {
    const problem = `"deliveryAttempt" of the pushed message ${messageId} is ${JSON.stringify(deliveryAttempt)}; expected a whole number, 1 or more`;
    return { problem };
  }
  return {
    delivery: {
      body: Buffer.from(data, 'base64'),
      messageId,
      receiveCount: receiveCountOf(deliveryAttempt, isRecord(attributes) ? attributes : undefined),
      queue: subscription.slice(subscription.lastIndexOf('/') + 1),
      handle: undefined,
    },
  };
}

const EXPECTED =
  'expected {"message":{"data","messageId",...},"subscription"}, as a push subscription posts it without payload unwrapping';
const SUBSCRIPTION = /^projects\/[^/]+\/subscriptions\/[^/]+$/;

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 1;
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
