/** How the delayer is asked: publish this message to that topic, after so long. */
export const DELAY = 'me-pubsub-delayer/delay';
export const DELAYED_TOPIC = 'me-pubsub-delayer/topic';
export const DEFAULT_DELAYER_TOPIC = 'me-pubsub-delayer';

/** As far ahead as Cloud Tasks, which the delayer leans on, keeps a task. */
export const MAX_DELAY_MS = 30 * 86_400_000;

/**
 * The most data that the delayer can carry: a task of Cloud Tasks has 1 MB, and the data is in it as base64, beside
 * its attributes.
 */
export const MAX_DELAYED_BYTES = 740_000;

/** What the delayer reads, beside whatever attributes the message has. Never sooner than asked for. */
export function delayAttributes(topic: string, delayMs: number): Readonly<Record<string, string>> {
  return { [DELAY]: `${Math.ceil(delayMs)}ms`, [DELAYED_TOPIC]: topic };
}
