/** How long the broker waits for an ack before it takes a delivery back; a client cannot ask it for that. */
const DEFAULT_CONSUMER_TIMEOUT_MS = 1_800_000;

export interface HoldLimits {
  readonly actorTimeoutMs: number;
  readonly concurrency: number;
  /** How many deliveries are held at once: those beyond the concurrency wait for the others. */
  readonly prefetch: number;
}

/** Words for the log where a call may take longer than the broker waits; undefined where it may not. */
export function consumerTimeoutWarning(hold: HoldLimits): string | undefined {
  const { actorTimeoutMs, concurrency, prefetch } = hold;
  const heldMs = actorTimeoutMs * Math.ceil(prefetch / concurrency);
  if (heldMs <= DEFAULT_CONSUMER_TIMEOUT_MS) return undefined;
  return (
    `a delivery may be held for ${heldMs / 1000} s (ASYA_RESILIENCY_ACTOR_TIMEOUT is ${actorTimeoutMs / 1000} s, ` +
    `with ASYA_RABBITMQ_PREFETCH ${prefetch} and ASYA_CONCURRENCY ${concurrency}), and RabbitMQ takes back what is ` +
    `not acked within its consumer_timeout, ${DEFAULT_CONSUMER_TIMEOUT_MS / 1000} s unless it was told otherwise: ` +
    'the call would go on and the envelope be delivered again. ' +
    `Set consumer_timeout in rabbitmq.conf above ${heldMs} (milliseconds); it cannot be asked from here`
  );
}
