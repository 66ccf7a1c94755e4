import { gatewayProgress } from '../../adapters/gateway-http/gateway-progress.ts';
import { deriveId, systemClock, systemRandom } from '../../adapters/system/system.ts';
import type { DeliveryLine } from '../../app/delivery/handle-delivery.ts';
import { handlerUpdates } from '../../app/delivery/handler-updates.ts';
import type { SidecarConfig } from '../../config/settings/host-config.ts';
import { queueName } from '../../config/settings/queue-name.ts';
import type { Dispatch } from '../../core/delivery/plan.ts';
import { defined } from '../../core/text/defined.ts';
import type { Reply } from '../../ports/reply.ts';
import type { Runtime } from '../../ports/runtime.ts';
import type { Telemetry } from '../../ports/telemetry.ts';
import type { Transport } from '../../ports/transport.ts';
import { reportsPost } from './reports-post.ts';

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
function progressFrom(
  { actor, ...config }: SidecarConfig,
  telemetry: Telemetry,
): Pick<DeliveryLine, 'progress' | 'updates'> {
  if (actor.isEnd) return {};
  const post = reportsPost(config);
  const onProblem = (problem: string) => telemetry.warn('reporting to the gateway failed', { problem });
  const clock = systemClock;
  const progress = post && gatewayProgress({ clock, post, onProblem });
  const reported = defined({ progress });
  return { ...reported, updates: handlerUpdates({ actor, clock, telemetry, ...reported }) };
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
