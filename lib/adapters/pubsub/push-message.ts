import type { MessageToDelay } from '../../core/pipeline/plan-delay.ts';
import { instantMs } from '../../core/text/timestamp.ts';
import { isBase64 } from './base64.ts';

/** Reads what a push subscription posts: one message with its attributes. The data stays in base64. */
export function messageFromPush(text: string): MessageToDelay | { readonly problem: string } {
  const push = parsed(text);
  if (push === undefined) return notAPush('the body is not a JSON object');
  const { subscription } = push;
  const message = asRecord(push['message']);
  if (message === undefined) return notAPush('it has no "message"');
  const { messageId: id, publishTime, data = '' } = message;
  const attributes = attributesFrom(message['attributes']);
  const publishMs = instantMs(publishTime);
  if (typeof subscription !== 'string') return notAPush('it has no "subscription"');
  if (typeof id !== 'string' || id === '') return notAPush('its message has no "messageId"');
  if (publishMs === undefined) return notAPush('its message has no readable "publishTime"');
  // This service does not read the data, but Pub/Sub would refuse to publish it on every attempt.
  if (typeof data !== 'string' || !isBase64(data)) return notAPush('its "data" is not base64');
  if (attributes === undefined) return notAPush('its "attributes" are not an object of strings');
  return { id, subscription, dataBase64: data, attributes, publishMs };
}

function notAPush(what: string): { readonly problem: string } {
  return {
    problem: `this is not a push of a Pub/Sub subscription: ${what}; if payload unwrapping is enabled on the subscription, disable it`,
  };
}

function parsed(text: string): Readonly<Record<string, unknown>> | undefined {
  try {
    return asRecord(JSON.parse(text));
  } catch {
    return undefined;
  }
}

function asRecord(value: unknown): Readonly<Record<string, unknown>> | undefined {
  const isRecord = typeof value === 'object' && value !== null && !Array.isArray(value);
  return isRecord ? (value as Record<string, unknown>) : undefined;
}

function attributesFrom(value: unknown): MessageToDelay['attributes'] | undefined {
  const attributes = asRecord(value ?? {});
  const areTexts = Object.values(attributes ?? {}).every((text) => typeof text === 'string');
  return areTexts ? (attributes as MessageToDelay['attributes'] | undefined) : undefined;
}
