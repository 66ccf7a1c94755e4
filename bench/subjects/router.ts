import { deriveId, systemClock, systemRandom } from '../../lib/adapters/system/system.ts';
import { type DeliveryLine, handleDelivery } from '../../lib/app/delivery/handle-delivery.ts';
import type { Actor } from '../../lib/core/delivery/actor.ts';
import { NO_RESILIENCY } from '../../lib/core/policy/policy.ts';
import { ACCEPTED } from '../../lib/ports/reply.ts';
import type { Runtime } from '../../lib/ports/runtime.ts';
import type { Telemetry } from '../../lib/ports/telemetry.ts';

/** The line as the hosts run it, with a broker that accepts immediately, so that only our code is measured. */

const ACTOR: Actor = {
  name: 'score',
  sink: 'x-sink',
  isEnd: false,
  timeoutMs: 300_000,
  maxHops: 100,
  fanOut: 'array',
  resiliency: NO_RESILIENCY,
};

const LIMITS = { maxDelayMs: 900_000, maxBodyBytes: 1_048_576 };

const SILENT: Telemetry = {
  received: () => {},
  began: () => {},
  ended: () => {},
  warn: () => {},
  step: () => {},
};

export function lineTo(runtime: Runtime, send: DeliveryLine['send'] = async () => ACCEPTED): DeliveryLine {
  return {
    actor: ACTOR,
    limits: LIMITS,
    runtime,
    send,
    clock: systemClock,
    random: systemRandom,
    deriveId,
    telemetry: SILENT,
  };
}

/** Processes deliveries one after the other. Throws if one of them is not acked: the measurement would be invalid. */
export async function route(body: string, count: number, line: DeliveryLine): Promise<void> {
  const delivery = { body, messageId: 'm-1', queue: 'score', receiveCount: 1 };
  const hosting = { timeLeftMs: Number.POSITIVE_INFINITY };
  for (let index = 0; index < count; index++) {
    const { settle } = await handleDelivery(delivery, hosting, line);
    if (settle !== 'ack') throw new Error('a delivery was not acked');
  }
}

/** A runtime in this process that returns its input, without any call. */
export const ECHO: Runtime = {
  restartsItself: true,
  call: async ({ envelope }) => ({ kind: 'frames', frames: [{ payload: envelope.payload }] }),
  interrupt: () => {},
  problem: async () => undefined,
  close: async () => {},
};
