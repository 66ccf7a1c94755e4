/** The attributes that ask the delayer to publish a message to a topic after a delay. */
export const DELAY = 'me-pubsub-delayer/delay';
export const DELAYED_TOPIC = 'me-pubsub-delayer/topic';
export const DEFAULT_DELAYER_TOPIC = 'me-pubsub-delayer';

/** Cloud Tasks, which the delayer uses, schedules tasks at most 30 days ahead. */
export const MAX_DELAY_MS = 30 * 86_400_000;

/**
 * The most data that the delayer accepts. A task of Cloud Tasks is limited to 1 MB, and contains the data in base64
 * and the attributes.
 */
export const MAX_DELAYED_BYTES = 740_000;

/** The attributes that request a delay. The delay is rounded up, so that the message is never early. */
export function delayAttributes(topic: string, delayMs: number): Readonly<Record<string, string>> {
  return { [DELAY]: `${Math.ceil(delayMs)}ms`, [DELAYED_TOPIC]: topic };
}
