import { durationText } from '../../core/text/duration.ts';
import type { Mistake } from '../../core/text/mistake.ts';
import { type PushTrust, pushTrustFrom } from './push-settings.ts';
import { wholeNumber } from './setting.ts';
import { HOST_RESERVE_MS, type SidecarConfig } from './sidecar-config.ts';
import type { Environment } from './variables.ts';

/** What a host that is pushed to needs besides, compiled. */
export interface PushHost {
  readonly trust: PushTrust;
  readonly port: number;
  /** From the arrival of a push to the last moment for its sends to begin. */
  readonly budgetMs: number;
}

const DEFAULT_PORT = '8080';
/**
 * What a push may take to come in whole, its token's keys included. Without it a call that needs all of the budget would
 * never fit, and every push be sent again for ever.
 */
const ARRIVAL_MS = 3_000;

/** Where there are mistakes, every one of them. */
export function pushHostFrom(
  config: SidecarConfig,
  env: Environment,
): { readonly host: PushHost } | { readonly mistakes: readonly Mistake[] } {
  const mistakes: Mistake[] = [];
  const { auth, audience, serviceAccount, jwksUrl, ackDeadlineSeconds } = config.push;
  const trust = pushTrustFrom({ auth, audience, serviceAccount, jwksUrl }, 'ASYA_PUSH_', mistakes);
  if (config.transport !== 'pubsub') {
    const problem = `is "${config.transport}", and what pushes is Pub/Sub; set it to pubsub, and ASYA_PUBSUB_PROJECT_ID`;
    mistakes.push({ place: 'ASYA_TRANSPORT', problem });
  }
  const budgetMs = ackDeadlineSeconds * 1000 - HOST_RESERVE_MS;
  const longestCallMs = budgetMs - ARRIVAL_MS;
  if (config.actor.timeoutMs > longestCallMs) {
    const problem =
      `is ${durationText(config.actor.timeoutMs)}, and a push is waited for only ${ackDeadlineSeconds} s (ASYA_PUSH_ACK_DEADLINE); ` +
      `it takes ${durationText(longestCallMs)} at most`;
    mistakes.push({ place: 'ASYA_RESILIENCY_ACTOR_TIMEOUT', problem });
  }
  const port = config.push.port ?? portFrom(env['PORT'] || DEFAULT_PORT, mistakes);
  return mistakes.length === 0 ? { host: { trust, port, budgetMs } } : { mistakes };
}

function portFrom(text: string, mistakes: Mistake[]): number {
  const reading = wholeNumber(0, 65_535).read(text);
  if ('value' in reading) return reading.value;
  mistakes.push({ place: 'PORT', problem: `is "${text}"; ${reading.problem}` });
  return 0;
}
