import { durationText } from '../../core/text/duration.ts';
import type { Mistake } from '../../core/text/mistake.ts';
import { type PushTrust, pushTrustFrom } from './groups/push.ts';
import { HOST_RESERVE_MS, type PushConfig } from './host-config.ts';
import { wholeNumber } from './kinds.ts';
import type { Environment } from './variables.ts';

/** What a host that receives pushes needs in addition, compiled. */
export interface PushHost {
  readonly trust: PushTrust;
  readonly port: number;
  /** From the arrival of a push until its sends must have started. */
  readonly budgetMs: number;
}

const DEFAULT_PORT = '8080';
/**
 * How long a push may take to arrive and to be authenticated, including the download of keys. Without this reserve, a
 * call that needs the whole budget would never fit, and Pub/Sub would send the push again and again.
 */
const ARRIVAL_MS = 3_000;

/** Returns all mistakes if there are any. */
export function pushHostFrom(
  config: PushConfig,
  env: Environment,
): { readonly host: PushHost } | { readonly mistakes: readonly Mistake[] } {
  const mistakes: Mistake[] = [];
  const { ackDeadlineSeconds } = config.push;
  const trust = pushTrustFrom(config.push, 'ASYA_PUSH_', mistakes);
  if (config.transport !== 'pubsub') {
    const problem = `is "${config.transport}", but only Pub/Sub pushes; set it to pubsub, and set ASYA_PUBSUB_PROJECT_ID`;
    mistakes.push({ place: 'ASYA_TRANSPORT', problem });
  }
  const budgetMs = ackDeadlineSeconds * 1000 - HOST_RESERVE_MS;
  const longestCallMs = budgetMs - ARRIVAL_MS;
  if (config.actor.timeoutMs > longestCallMs) {
    const problem =
      `is ${durationText(config.actor.timeoutMs)}, but Pub/Sub waits only ${ackDeadlineSeconds} s for the answer to a push (ASYA_PUSH_ACK_DEADLINE); ` +
      `expected at most ${durationText(longestCallMs)}`;
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
