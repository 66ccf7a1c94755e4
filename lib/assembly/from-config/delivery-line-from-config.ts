import { gatewayProgress } from '../../adapters/gateway-http/gateway-progress.ts';
import { deriveId, systemClock, systemRandom } from '../../adapters/system/system.ts';
import type { DeliveryLine } from '../../app/delivery/handle-delivery.ts';
import type { SidecarConfig } from '../../config/settings/host-config.ts';
import { queueName } from '../../config/settings/queue-name.ts';
import type { Dispatch } from '../../core/delivery/plan.ts';
import type { Reply } from '../../ports/reply.ts';
import type { Runtime } from '../../ports/runtime.ts';
import type { Telemetry } from '../../ports/telemetry.ts';
import type { Transport } from '../../ports/transport.ts';
import { gatewayAddress } from './gateway-address.ts';

export function deliveryLineFromConfig(
  config: SidecarConfig,
  transport: Transport,
  runtime: Runtime,
  telemetry: Telemetry,
): DeliveryLine {
  return {
    actor: config.actor,
    limits: transport.traits,
    runtime,
    send: senderFor(transport, config.namespace),
    clock: systemClock,
    random: systemRandom,
    deriveId,
    telemetry,
    ...progressFrom(config, telemetry),
  };
}

/** End actors do not report progress: the crew reports how an envelope ends. */
function progressFrom(config: SidecarConfig, telemetry: Telemetry): Pick<DeliveryLine, 'progress'> {
  const gateway = config.actor.isEnd ? undefined : gatewayAddress(config);
  if (gateway === undefined) return {};
  const onProblem = (problem: string) => telemetry.warn('reporting to the gateway failed', { problem });
  return { progress: gatewayProgress(gateway, { clock: systemClock, onProblem }) };
}

/** Sends to an actor's queue. An escalation goes to a topic of exactly that name, without the namespace. */
function senderFor(
  transport: Transport,
  namespace: string | undefined,
): (dispatch: Dispatch) => Promise<Reply> {
  return ({ to, type, body, delayMs }) => {
    const queue = type === 'escalation' ? to : queueName(to, namespace);
    return delayMs > 0 ? transport.sendWithDelay(queue, body, delayMs) : transport.send(queue, body);
  };
}
