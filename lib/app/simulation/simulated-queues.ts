import type { Limits } from '../../core/delivery/actor.ts';
import type { Dispatch } from '../../core/delivery/plan.ts';
import { ACCEPTED, type Reply } from '../../ports/reply.ts';

/** A broker in which no time passes but the delays that were asked for. */
export interface SimulatedQueues {
  send(dispatch: Pick<Dispatch, 'to' | 'type' | 'body' | 'delayMs'>): Reply;
  /** The message that comes first; undefined where all are empty. */
  receive(): SimulatedMessage | undefined;
}

export interface SimulatedMessage {
  readonly queue: string;
  readonly messageId: string;
  readonly body: string;
  /** Milliseconds since 1970. */
  readonly visibleAt: number;
}

/** What the broker can do, and how it counts a delay. */
export interface QueueTraits {
  readonly limits: Limits;
  readonly heldMs: (delayMs: number) => number;
}

/** What is escalated leaves the mesh: it is accepted, and nobody here receives it. */
export function simulatedQueues(
  names: ReadonlySet<string>,
  { limits, heldMs }: QueueTraits,
  now: () => number,
): SimulatedQueues {
  const messages: SimulatedMessage[] = [];
  let ids = 0;
  return {
    send: ({ to, type, body, delayMs }) => {
      const bytes = Buffer.byteLength(body);
      if (bytes > limits.maxBodyBytes) return refused(`${bytes} bytes are more than ${limits.maxBodyBytes}`);
      if (delayMs > limits.maxDelayMs)
        return refused(`${delayMs} ms of delay are more than ${limits.maxDelayMs}`);
      if (type === 'escalation') return ACCEPTED;
      if (!names.has(to)) return refused(`there is no queue "${to}"`);
      messages.push({ queue: to, messageId: `m-${++ids}`, body, visibleAt: now() + heldMs(delayMs) });
      return ACCEPTED;
    },
    receive: () => {
      const [first] = messages.toSorted((one, other) => one.visibleAt - other.visibleAt);
      if (first !== undefined) messages.splice(messages.indexOf(first), 1);
      return first;
    },
  };
}

function refused(problem: string): Reply {
  return { ok: false, problem };
}
