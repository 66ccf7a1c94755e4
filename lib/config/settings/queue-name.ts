/** The longest name of a queue on SQS, and within what the other brokers take. */
export const MAX_QUEUE_NAME = 80;

/** A queue is called as its actor; in a namespace, by both. */
export function queueName(actor: string, namespace: string | undefined): string {
  return namespace === undefined ? actor : `asya-${namespace}-${actor}`;
}

export function deadLetterQueueName(queue: string): string {
  return `${queue}-dlq`;
}
