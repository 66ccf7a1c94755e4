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

export interface Delayer {
  readonly rules: DelayRules;
  readonly schedule: ScheduledPublish['schedule'];
  readonly publish: PublishRequest;
  /** Where what will never work goes, by its full name. */
  readonly errorsTopic: string;
  /** For logs; never the data. */
  readonly onFact: (fact: DelayerFact) => void;
}

export type DelayerFact =
  | (About & {
      readonly fact: 'scheduled';
      readonly dueMs: number;
      readonly isNew: boolean;
      readonly topic: string;
    })
  | (About & { readonly fact: 'refused'; readonly reason: DelayRefusal; readonly problem: string })
  /** Not acked: the broker delivers it again. */
  | (About & { readonly fact: 'released'; readonly problem: string });

interface About {
  readonly messageId: string;
}

/** Acked only where the message is kept somewhere else: by the schedule, or by the errors topic. */
export async function delayMessage(message: MessageToDelay, delayer: Delayer): Promise<'ack' | 'release'> {
  const plan = await scheduled(message, planDelay(message, delayer.rules), delayer);
  if (plan === 'ack' || plan === 'release') return plan;
  const body = publishBody(message.dataBase64, refusedAttributes(message, plan));
  const reply = await delayer.publish(delayer.errorsTopic, body);
  const { reason, problem } = plan;
  if (reply.ok) {
    delayer.onFact({ fact: 'refused', messageId: message.id, reason, problem });
    return 'ack';
  }
  const words = `${problem}; and the errors topic did not take it: ${reply.problem}`;
  delayer.onFact({ fact: 'released', messageId: message.id, problem: words });
  return 'release';
}

type Refused = Extract<DelayPlan, { kind: 'refuse' }>;

async function scheduled(
  { id: messageId }: MessageToDelay,
  plan: DelayPlan,
  { schedule, onFact: tell }: Delayer,
): Promise<'ack' | 'release' | Refused> {
  if (plan.kind === 'refuse') return plan;
  const { topic, dueMs } = plan.publication;
  const reply = await schedule(plan.publication);
  if (reply.ok) {
    tell({ fact: 'scheduled', messageId, topic, dueMs, isNew: reply.isNew });
    return 'ack';
  }
  if (reply.isHopeless) return { kind: 'refuse', reason: 'rejected', problem: reply.problem };
  tell({ fact: 'released', messageId, problem: reply.problem });
  return 'release';
}
