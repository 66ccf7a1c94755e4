import { MAX_DELAYED_BYTES } from '../core/pipeline/delayer.ts';
import { decidePipeline, type PipelineAction } from '../core/pipeline/pipeline.ts';
import { defined } from '../core/text/defined.ts';
import type { Clock } from '../ports/clock.ts';
import type { Publish, PublishedMessage } from '../ports/publish.ts';
import { DEFAULT_DELAYER_TOPIC, delayedMessage } from './delayed-message.ts';
import { escalatedMessage } from './escalated-message.ts';
import type { Failed } from './failed.ts';
import { fieldOf, textOf } from './guarded-read.ts';
import { classifyError } from './is-error-retriable.ts';
import { dataBytesOf, eventTimeOf, type PipelineMessage, retryCountOf } from './message.ts';
import { factsOf, type PipelineFact } from './pipeline-fact.ts';
import type { ErrorHandlingSettings } from './policy.ts';

export interface ErrorHandlingOptions<Data> {
  /** Delays, expiry and errors topic: `DEFAULT_SETTINGS`, or the result of `settingsFromEnvironment(process.env)`. */
  readonly settings: ErrorHandlingSettings;
  /** The topic that the consumer reads from. The delayer publishes retries to it. */
  readonly topic: string;
  /** Publishes retries to the delayer's topic and escalated messages to the errors topic. */
  readonly publish: Publish<Data>;
  /** The current time. `Date` works as a clock. */
  readonly clock: Pick<Clock, 'now'>;
  /** Receives facts for logs and metrics. Errors that it throws are ignored. */
  readonly onFact: (fact: PipelineFact) => void;
  /**
   * The topic of the delayer, which publishes a message again after a delay.
   * @default `me-pubsub-delayer`
   */
  readonly delayerTopic?: string;
}

/** Retries, escalates or drops a message whose handler threw. Never throws. */
export async function handleFailure<Data>(
  thrown: unknown,
  message: PipelineMessage<Data>,
  options: ErrorHandlingOptions<Data>,
): Promise<Failed> {
  const now = options.clock.now();
  const { fault, isNormal } = classifyError(thrown);
  const retryCount = retryCountOf(message);
  const eventTime = eventTimeOf(message, now);
  const { eventMs } = eventTime;
  const decided = decidePipeline({ fault, isNormal, retryCount, eventMs, now }, options.settings);
  const action = unlessTooLarge(decided, message);
  const outgoing = outgoingFor(action, message, options, { fault, retryCount, eventTime });
  const problem = outgoing === undefined ? undefined : await publishProblem(outgoing, options.publish);
  const failed: Failed = {
    ...action,
    settle: problem === undefined ? 'ack' : 'nack',
    fault,
    retryCount,
    ageMs: now - eventMs,
    ...defined({ problem }),
  };
  for (const fact of factsOf(failed, message.id)) reportSafely(options.onFact, fact);
  return failed;
}

/** Escalates instead of retrying if the delayer would reject the message because of its size. */
function unlessTooLarge(action: PipelineAction, message: PipelineMessage): PipelineAction {
  const isTooLarge = action.action === 'retry' && dataBytesOf(message) > MAX_DELAYED_BYTES;
  return isTooLarge ? { action: 'escalate' } : action;
}

interface Outgoing<Data> {
  readonly to: string;
  readonly message: PublishedMessage<Data>;
}

type Found = Pick<Parameters<typeof escalatedMessage>[1], 'fault' | 'retryCount' | 'eventTime'>;

/** The message to publish. Undefined if the message is only dropped. */
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

/** Publishes the message. Returns why that failed, or undefined if the broker accepted it. */
async function publishProblem<Data>(
  { to, message }: Outgoing<Data>,
  publish: Publish<Data>,
): Promise<string | undefined> {
  try {
    const reply = await publish(to, message);
    if (fieldOf(reply, 'ok') !== false) return undefined;
    return `${to}: ${textOf(reply, 'problem') ?? 'refused'}`;
  } catch (error) {
    return `${to}: ${classifyError(error).fault.message}`;
  }
}

/** Calls `onFact` without waiting for it, and ignores its errors. */
export function reportSafely(onFact: (fact: PipelineFact) => unknown, fact: PipelineFact): void {
  new Promise((resolve) => resolve(onFact(fact))).catch(() => undefined);
}
