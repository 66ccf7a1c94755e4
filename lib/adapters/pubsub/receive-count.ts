/** Pub/Sub sets this attribute on a message that it moves to a dead-letter topic. */
const SOURCE_COUNT = 'CloudPubSubDeadLetterSourceDeliveryCount';

/**
 * How often a message was delivered, including this time. Pub/Sub counts only if the subscription has a dead-letter policy.
 * The count continues after a message was moved to a dead-letter topic, as on SQS.
 */
export function receiveCountOf(
  deliveryAttempt: number | null | undefined,
  attributes: Readonly<Record<string, unknown>> | null | undefined,
): number {
  const before = attributes?.[SOURCE_COUNT];
  const count = typeof before === 'string' && /^\d{1,9}$/.test(before) ? Number(before) : 0;
  return count + Math.max(1, deliveryAttempt ?? 1);
}
