import type { PublishRequest } from '../../ports/publish-request.ts';
import { publishRequest } from './publish-request.ts';
import { type RestOptions, restCall } from './rest-call.ts';

/** For so long a topic is taken to have the subscription that it had. */
const HEARD_FOR_MS = 60_000;

/**
 * Refused where the topic has no subscription yet: it would drop what is published to it, and say nothing. A mesh that is
 * just starting makes the topic first, while timers of before may be due; and an errors topic may never have been given
 * one.
 */
export function publishIfSubscribed(options: RestOptions): PublishRequest {
  const call = restCall(options);
  const publish = publishRequest(options);
  const heardUntilMs = new Map<string, number>();
  return async (topic, body) => {
    if (performance.now() >= (heardUntilMs.get(topic) ?? 0)) {
      const answer = await call('GET', `${topic}/subscriptions?pageSize=1`);
      if (!answer.ok) return { ...answer, problem: `${cannotSee(topic)}: ${answer.problem}` };
      if (!namesSubscriptions(answer.text)) {
        const problem = `${topic} has no subscription, and would drop what is published to it; give it one`;
        return { ok: false, problem, isQueueMissing: true };
      }
      heardUntilMs.set(topic, performance.now() + HEARD_FOR_MS);
    }
    const reply = await publish(topic, body);
    if (!reply.ok) heardUntilMs.delete(topic);
    return reply;
  };
}

function cannotSee(topic: string): string {
  return `it cannot be seen (roles/pubsub.viewer) whether ${topic} has a subscription, without which it drops what is published to it`;
}

/** Where there are none, the list is left out. */
function namesSubscriptions(text: string): boolean {
  try {
    const { subscriptions } = JSON.parse(text) as { subscriptions?: unknown };
    return Array.isArray(subscriptions) && subscriptions.length > 0;
  } catch {
    return false;
  }
}
