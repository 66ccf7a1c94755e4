/** How long the broker waits for an ack before it takes a delivery back. A client cannot query or change it. */
const DEFAULT_CONSUMER_TIMEOUT_MS = 1_800_000;

export interface ConsumerLimits {
  readonly actorTimeoutMs: number;
  readonly concurrency: number;
  /** Most deliveries held at the same time. Those beyond the concurrency wait for the others. */
  readonly prefetch: number;
}

/** A warning if a delivery may be held longer than the broker waits for its ack, otherwise undefined. */
export function consumerTimeoutWarning(hold: ConsumerLimits): string | undefined {
  const { actorTimeoutMs, concurrency, prefetch } = hold;
  const heldMs = actorTimeoutMs * Math.ceil(prefetch / concurrency);
  if (heldMs <= DEFAULT_CONSUMER_TIMEOUT_MS) return undefined;
  return (
    `a delivery may be held for ${heldMs / 1000} s (ASYA_RESILIENCY_ACTOR_TIMEOUT is ${actorTimeoutMs / 1000} s, ` +
    `with ASYA_RABBITMQ_PREFETCH ${prefetch} and ASYA_CONCURRENCY ${concurrency}), but RabbitMQ redelivers what is ` +
    `not acked within its consumer_timeout (default ${DEFAULT_CONSUMER_TIMEOUT_MS / 1000} s): ` +
    'the envelope would be delivered again while the call still runs. ' +
    `Set consumer_timeout in rabbitmq.conf above ${heldMs} (milliseconds); the sidecar cannot read that setting`
  );
}
