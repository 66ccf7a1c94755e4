/** Maximum length of a queue name on SQS. The other brokers allow more. */
export const MAX_QUEUE_NAME = 80;

/** Queue name: `{actor}`, or `asya-{namespace}-{actor}`. */
export function queueName(actor: string, namespace: string | undefined): string {
  return namespace === undefined ? actor : `asya-${namespace}-${actor}`;
}

export function deadLetterQueueName(queue: string): string {
  return `${queue}-dlq`;
}
