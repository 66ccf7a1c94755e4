import type { Delivery } from '../../ports/transport.ts';
import { receiveCountOf } from './receive-count.ts';

export type PushReading =
  | { readonly delivery: Delivery }
  /** Why it is no push of Pub/Sub's, in words without the payload. */
  | { readonly problem: string };

/** What a push subscription posts, as it came. The request's answer settles it: the delivery has no handle. */
export function deliveryFromPush(text: string): PushReading {
  const push = parsed(text);
  if (!isRecord(push)) {
    return {
      problem: `the request's body (${text.length} characters) is no JSON object; ${WHAT_IS_RIGHT}`,
    };
  }
  const { message, subscription, deliveryAttempt = 1 } = push;
  if (!isRecord(message)) {
    return { problem: `the request's body has no object "message"; ${WHAT_IS_RIGHT}` };
  }
  const { data = '', messageId, attributes } = message;
  if (typeof messageId !== 'string' || messageId === '') {
    return { problem: 'the pushed message has no "messageId", which Pub/Sub gives to every message' };
  }
  if (typeof subscription !== 'string' || !SUBSCRIPTION.test(subscription)) {
    const problem = `the push names no subscription: "subscription" is ${JSON.stringify(subscription)}, not "projects/{project}/subscriptions/{name}"`;
    return { problem };
  }
  if (typeof data !== 'string' || !isBase64(data)) {
    return { problem: `the data of the pushed message ${messageId} is not base64` };
  }
  if (!isCount(deliveryAttempt)) {
    const problem = `"deliveryAttempt" of the pushed message ${messageId} is ${JSON.stringify(deliveryAttempt)}; it counts from 1`;
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

const WHAT_IS_RIGHT =
  'a push subscription posts {"message":{"data","messageId",...},"subscription"}, unless payload unwrapping is switched on: switch it off';
const SUBSCRIPTION = /^projects\/[^/]+\/subscriptions\/[^/]+$/;
const BASE64 = /^[A-Za-z0-9+/]*={0,2}$/;

function isBase64(text: string): boolean {
  return text.length % 4 === 0 && BASE64.test(text);
}

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
