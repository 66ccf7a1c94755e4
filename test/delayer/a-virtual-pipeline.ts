import { deriveId } from '../../lib/adapters/system/system.ts';
import { type DelayerFact, delayMessage } from '../../lib/app/delayer/delay-message.ts';
import { DEFAULT_DELAYER_TOPIC } from '../../lib/core/pipeline/delayer.ts';
import type { PipelineFact } from '../../lib/error-handling/pipeline-fact.ts';
import { DEFAULT_SETTINGS, type ErrorHandlingSettings } from '../../lib/error-handling/policy.ts';
import { withErrorHandling } from '../../lib/error-handling/with-error-handling.ts';
import { aTimerStage, type TimerStage } from '../adapters/timer-file/a-timer-file.ts';

interface Consumed {
  readonly atMs: number;
  readonly attributes: Readonly<Record<string, string>>;
  readonly data: string;
}

export interface VirtualPipeline {
  readonly stage: TimerStage;
  readonly startMs: number;
  /** The calls of the consumer. */
  readonly consumed: Consumed[];
  /** Messages in the errors topic. */
  readonly errors: Consumed[];
  readonly facts: PipelineFact[];
  readonly delayed: DelayerFact[];
  /** Publishes to the consumer's topic. */
  publish(data: string, attributes?: Readonly<Record<string, string>>): void;
}

const PROJECT = 'projects/shop/topics/';
const TOPIC = 'orders';

/**
 * A consumer with the error module, the delayer and its timer file, connected by a fake Pub/Sub in virtual time. Every
 * message to the delayer is delivered `deliveries` times.
 */
export async function aVirtualPipeline(
  handler: (call: number, ageMs: number) => unknown,
  {
    deliveries = 1,
    settings = DEFAULT_SETTINGS,
  }: { deliveries?: number; settings?: ErrorHandlingSettings } = {},
): Promise<VirtualPipeline> {
  const stage = aTimerStage();
  const { clock } = stage;
  const startMs = clock.now();
  const consumed: Consumed[] = [];
  const errors: Consumed[] = [];
  const facts: PipelineFact[] = [];
  const delayed: DelayerFact[] = [];
  const timers = await stage.open();
  let published = 0;

  const consume = withErrorHandling(
    (message: { id: string; data: string; attributes: Record<string, string> }) => {
      consumed.push({ atMs: clock.now(), attributes: message.attributes, data: message.data });
      return handler(consumed.length, clock.now() - startMs);
    },
    {
      settings,
      topic: TOPIC,
      publish: async (topic, { data, attributes }) => deliver(topic, data, attributes),
      clock,
      onFact: (fact) => facts.push(fact),
    },
  );

  function deliver(topic: string, data: string, attributes: Readonly<Record<string, string>>): void {
    const id = String(++published);
    if (topic === settings.errorsTopic) errors.push({ atMs: clock.now(), attributes, data });
    else if (topic === TOPIC) void consume({ id, data, attributes: { ...attributes } });
    else if (topic === DEFAULT_DELAYER_TOPIC)
      for (let delivery = 0; delivery < deliveries; delivery++) delay(id, data, attributes);
    else throw new Error(`no subscription for ${topic}`);
  }

  function delay(id: string, data: string, attributes: Readonly<Record<string, string>>): void {
    void delayMessage(
      {
        id,
        subscription: 'projects/shop/subscriptions/me-pubsub-delayer',
        dataBase64: Buffer.from(data).toString('base64'),
        attributes,
        publishMs: clock.now(),
      },
      {
        rules: {
          project: 'shop',
          queues: { byTopic: [], defaultQueue: 'q' },
          deriveId,
          countBytes: Buffer.byteLength,
        },
        schedule: timers.schedule,
        publish: (to, body) => stage.replies({ topic: to, body, atMs: clock.now() }),
        errorsTopic: PROJECT + settings.errorsTopic,
        onFact: (fact) => delayed.push(fact),
      },
    );
  }

  // Deliver what a timer publishes.
  stage.replies = async ({ topic, body }) => {
    const [message] = JSON.parse(body).messages;
    deliver(topic.slice(PROJECT.length), Buffer.from(message.data, 'base64').toString(), message.attributes);
    return { ok: true };
  };
  return {
    stage,
    startMs,
    consumed,
    errors,
    facts,
    delayed,
    publish: (data, attributes = {}) => deliver(TOPIC, data, attributes),
  };
}
