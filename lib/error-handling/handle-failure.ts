import { MAX_DELAYED_BYTES } from '../core/pipeline/delayer.ts';
import { decidePipeline, type PipelineAction } from '../core/pipeline/pipeline.ts';
import { defined } from '../core/text/defined.ts';
import type { Clock } from '../ports/clock.ts';
import type { Publish, PublishedMessage } from '../ports/publish.ts';
import { DEFAULT_DELAYER_TOPIC, delayedMessage } from './delayed-message.ts';
import { escalatedMessage } from './escalated-message.ts';
import type { Failed } from './failed.ts';
import { fieldOf, textOf } from './guarded-read.ts';
import { classify } from './is-error-retriable.ts';
import { dataBytesOf, eventTimeOf, type PipelineMessage, retryCountOf } from './message.ts';
import { factsOf, type PipelineFact } from './pipeline-fact.ts';
import type { ErrorHandlingSettings } from './policy.ts';

export interface ErrorHandlingOptions<Data> {
  readonly settings: ErrorHandlingSettings;
  /** The consumer's own topic: where retries come back to. */
  readonly topic: string;
  readonly publish: Publish<Data>;
  /** `Date` is one. */
  readonly clock: Pick<Clock, 'now'>;
  /** For logs and metrics; what it throws is lost. */
  readonly tell: (fact: PipelineFact) => void;
  /** @default `me-pubsub-delayer` */
  readonly delayerTopic?: string;
}

/** For a message whose handler threw. Never throws itself. */
export async function handleFailure<Data>(
  thrown: unknown,
  message: PipelineMessage<Data>,
  options: ErrorHandlingOptions<Data>,
): Promise<Failed> {
  const now = options.clock.now();
  const { fault, isNormal } = classify(thrown);
  const retryCount = retryCountOf(message);
  const eventTime = eventTimeOf(message, now);
  const { eventMs } = eventTime;
  const decided = decidePipeline({ fault, isNormal, retryCount, eventMs, now }, options.settings);
  const action = unlessTooLarge(decided, message);
  const outgoing = outgoingFor(action, message, options, { fault, retryCount, eventTime });
  const problem = outgoing === undefined ? undefined : await problemOfPublishing(outgoing, options.publish);
  const failed: Failed = {
    ...action,
    settle: problem === undefined ? 'ack' : 'nack',
    fault,
    retryCount,
    ageMs: now - eventMs,
    ...defined({ problem }),
  };
  for (const fact of factsOf(failed, message.id)) reportSafely(options.tell, fact);
  return failed;
}

/** The delayer could only hand it to the errors topic too, and would not know the error. */
function unlessTooLarge(action: PipelineAction, message: PipelineMessage): PipelineAction {
  const isTooLarge = action.action === 'retry' && dataBytesOf(message) > MAX_DELAYED_BYTES;
  return isTooLarge ? { action: 'escalate' } : action;
}

interface Outgoing<Data> {
  readonly to: string;
  readonly message: PublishedMessage<Data>;
}

type Found = Pick<Parameters<typeof escalatedMessage>[1], 'fault' | 'retryCount' | 'eventTime'>;

/** At most one message; none where it is only dropped. */
function outgoingFor<Data>(
  action: PipelineAction,
  message: PipelineMessage<Data>,
  { settings, topic, delayerTopic = DEFAULT_DELAYER_TOPIC }: ErrorHandlingOptions<Data>,
  found: Found,
): Outgoing<Data> | undefined {
  if (action.action === 'retry') {
    const { delaySeconds, nextCount } = action;
    const { eventTime } = found;
    return {
      to: delayerTopic,
      message: delayedMessage(message, { topic, delaySeconds, retryCount: nextCount, eventTime }),
    };
  }
  if (action.action === 'drop' && !action.escalate) return undefined;
  const reason = action.action === 'drop' ? 'expired' : 'escalated';
  return { to: settings.errorsTopic, message: escalatedMessage(message, { ...found, topic, reason }) };
}

/** Undefined: it was accepted. */
async function problemOfPublishing<Data>(
  { to, message }: Outgoing<Data>,
  publish: Publish<Data>,
): Promise<string | undefined> {
  try {
    const reply = await publish(to, message);
    if (fieldOf(reply, 'ok') !== false) return undefined;
    return `${to}: ${textOf(reply, 'problem') ?? 'refused'}`;
  } catch (error) {
    return `${to}: ${classify(error).fault.message}`;
  }
}

/** Telling never fails and never waits. */
export function reportSafely(tell: (fact: PipelineFact) => unknown, fact: PipelineFact): void {
  new Promise((resolve) => resolve(tell(fact))).catch(() => undefined);
}
