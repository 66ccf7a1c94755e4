import type { Limits } from '../../core/delivery/actor.ts';
import type { Dispatch } from '../../core/delivery/plan.ts';
import { ACCEPTED, type Reply } from '../../ports/reply.ts';

/** A broker that delivers at once, except for the delays that a send requests. */
export interface SimulatedQueues {
  /** `now`: the time of the sender. */
  send(dispatch: Pick<Dispatch, 'to' | 'type' | 'body' | 'delayMs'>, now: number): Reply;
  /** The message that is visible first. Undefined if all queues are empty. */
  receive(): SimulatedMessage | undefined;
}

export interface SimulatedMessage {
  readonly queue: string;
  readonly messageId: string;
  readonly body: string;
  /** Milliseconds since 1970. */
  readonly visibleAt: number;
}

/** The broker's limits, and how it rounds a delay. */
export interface QueueTraits {
  readonly limits: Limits;
  readonly actualDelayMs: (delayMs: number) => number;
}

/** An escalation leaves the mesh: it is accepted, and no actor here receives it. */
export function simulatedQueues(
  names: ReadonlySet<string>,
  { limits, actualDelayMs }: QueueTraits,
): SimulatedQueues {
  /** Earliest first; those with the same time in the order of their sends. */
  const messages: SimulatedMessage[] = [];
  let ids = 0;

  function insert(message: SimulatedMessage): void {
    let [low, high] = [0, messages.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((messages[middle]?.visibleAt ?? 0) <= message.visibleAt) low = middle + 1;
      else high = middle;
    }
    messages.splice(low, 0, message);
  }

  return {
    send: ({ to, type, body, delayMs }, now) => {
      const bytes = Buffer.byteLength(body);
      if (bytes > limits.maxBodyBytes)
        return refused(`the body has ${bytes} bytes; the limit is ${limits.maxBodyBytes}`);
      if (delayMs > limits.maxDelayMs)
        return refused(`the delay is ${delayMs} ms; the limit is ${limits.maxDelayMs} ms`);
      if (type === 'escalation') return ACCEPTED;
      if (!names.has(to)) return refused(`queue "${to}" does not exist`);
      insert({ queue: to, messageId: `m-${++ids}`, body, visibleAt: now + actualDelayMs(delayMs) });
      return ACCEPTED;
    },
    receive: () => messages.shift(),
  };
}

function refused(problem: string): Reply {
  return { ok: false, problem };
}
