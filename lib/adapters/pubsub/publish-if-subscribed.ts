import type { PublishRequest } from '../../ports/publish-request.ts';
import { publishRequest } from './publish-request.ts';
import { type RestOptions, restCall } from './rest-call.ts';

/** How long a topic is assumed to still have a subscription. */
const RECHECK_AFTER_MS = 60_000;

/**
 * Refuses to publish if the topic has no subscription, because Pub/Sub then drops the message without an error. That
 * happens when a mesh is starting (it creates the topic first, while earlier timers may be due), and if an errors topic was
 * never given a subscription.
 */
export function publishIfSubscribed(options: RestOptions): PublishRequest {
  const call = restCall(options);
  const publish = publishRequest(options);
  const checkAgainAtMs = new Map<string, number>();
  return async (topic, body) => {
    if (performance.now() >= (checkAgainAtMs.get(topic) ?? 0)) {
      const answer = await call('GET', `${topic}/subscriptions?pageSize=1`);
      if (!answer.ok) return { ...answer, problem: `${checkFailed(topic)}: ${answer.problem}` };
      if (!hasSubscriptions(answer.text)) {
        const problem = `${topic} has no subscription, so Pub/Sub would drop the message; create a subscription`;
        return { ok: false, problem, isQueueMissing: true };
      }
      checkAgainAtMs.set(topic, performance.now() + RECHECK_AFTER_MS);
    }
    const reply = await publish(topic, body);
    if (!reply.ok) checkAgainAtMs.delete(topic);
    return reply;
  };
}

function checkFailed(topic: string): string {
  return `cannot check whether ${topic} has a subscription (needs roles/pubsub.viewer); without one, Pub/Sub drops messages`;
}

/** The response has no list if there are no subscriptions. */
function hasSubscriptions(text: string): boolean {
  try {
    const { subscriptions } = JSON.parse(text) as { subscriptions?: unknown };
    return Array.isArray(subscriptions) && subscriptions.length > 0;
  } catch {
    return false;
  }
}
