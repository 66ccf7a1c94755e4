import {
  type DelayPlan,
  type DelayRefusal,
  type DelayRules,
  type MessageToDelay,
  planDelay,
  publishBody,
  refusedAttributes,
} from '../../core/pipeline/plan-delay.ts';
import type { PublishRequest } from '../../ports/publish-request.ts';
import type { ScheduledPublish } from '../../ports/scheduled-publish.ts';

/** What the Pub/Sub delayer needs to schedule a message's publication. */
export interface Delayer {
  readonly rules: DelayRules;
  readonly schedule: ScheduledPublish['schedule'];
  readonly publish: PublishRequest;
  /** The full name of the topic for messages that can never be delayed. */
  readonly errorsTopic: string;
  /** Called with each fact, for the log. A fact never contains the message's data. */
  readonly onFact: (fact: DelayerFact) => void;
}

export type DelayerFact =
  | (MessageFact & {
      readonly fact: 'scheduled';
      readonly dueMs: number;
      readonly isNew: boolean;
      readonly topic: string;
    })
  | (MessageFact & { readonly fact: 'refused'; readonly reason: DelayRefusal; readonly problem: string })
  /** Not acknowledged: the broker redelivers it. */
  | (MessageFact & { readonly fact: 'released'; readonly problem: string });

interface MessageFact {
  readonly messageId: string;
}

/** Acknowledges a message only after the schedule or the errors topic has stored it. */
export async function delayMessage(message: MessageToDelay, delayer: Delayer): Promise<'ack' | 'release'> {
  const result = await scheduleOrRefuse(message, planDelay(message, delayer.rules), delayer);
  if (result === 'ack' || result === 'release') return result;
  const body = publishBody(message.dataBase64, refusedAttributes(message, result));
  const reply = await delayer.publish(delayer.errorsTopic, body);
  const { reason, problem } = result;
  if (reply.ok) {
    delayer.onFact({ fact: 'refused', messageId: message.id, reason, problem });
    return 'ack';
  }
  const both = `${problem}; publishing to the errors topic failed: ${reply.problem}`;
  delayer.onFact({ fact: 'released', messageId: message.id, problem: both });
  return 'release';
}

type Refused = Extract<DelayPlan, { kind: 'refuse' }>;

async function scheduleOrRefuse(
  { id: messageId }: MessageToDelay,
  plan: DelayPlan,
  { schedule, onFact }: Delayer,
): Promise<'ack' | 'release' | Refused> {
  if (plan.kind === 'refuse') return plan;
  const { topic, dueMs } = plan.publication;
  const reply = await schedule(plan.publication);
  if (reply.ok) {
    onFact({ fact: 'scheduled', messageId, topic, dueMs, isNew: reply.isNew });
    return 'ack';
  }
  if (reply.isPermanent) return { kind: 'refuse', reason: 'rejected', problem: reply.problem };
  onFact({ fact: 'released', messageId, problem: reply.problem });
  return 'release';
}
