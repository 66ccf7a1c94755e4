import { durationMs } from '../../lib/core/text/duration.ts';
import { DELAY, DELAYED_TOPIC } from '../../lib/error-handling/delayed-message.ts';
import type { ErrorHandlingOptions } from '../../lib/error-handling/handle-failure.ts';
import type { PipelineMessage } from '../../lib/error-handling/message.ts';
import type { PipelineFact } from '../../lib/error-handling/pipeline-fact.ts';
import { DEFAULT_SETTINGS } from '../../lib/error-handling/policy.ts';
import { withErrorHandling } from '../../lib/error-handling/with-error-handling.ts';
import type { PublishedMessage } from '../../lib/ports/publish.ts';

export const START = Date.UTC(2026, 0, 1);
const TOPIC = 'orders';
export const HOUR_MS = 3_600_000;

interface Publication extends PublishedMessage<string> {
  readonly topic: string;
  readonly atMs: number;
}

/** The options of a consumer with a virtual clock, and the messages and facts that it published and reported. */
export function aPipeline(changes: Partial<ErrorHandlingOptions<string>> = {}) {
  let now = START;
  const published: Publication[] = [];
  const facts: PipelineFact[] = [];
  const options: ErrorHandlingOptions<string> = {
    settings: DEFAULT_SETTINGS,
    topic: TOPIC,
    clock: { now: () => now },
    onFact: (fact) => facts.push(fact),
    publish: async (topic, message) => published.push({ topic, ...message, atMs: now }),
    ...changes,
  };
  return {
    options,
    published,
    facts,
    publishedTo: (topic: string) => published.filter((message) => message.topic === topic),
    advance: (milliseconds: number) => {
      now += milliseconds;
    },
    now: () => now,
  };
}

export function aMessage(attributes: Readonly<Record<string, string>> = {}): PipelineMessage<string> {
  return { id: 'm-1', data: 'the data', attributes, publishTime: new Date(START) };
}

export interface History {
  readonly delaysSeconds: readonly number[];
  readonly published: readonly Publication[];
  readonly facts: readonly PipelineFact[];
  /** Age of the message when it ended. */
  readonly ageMs: number;
  readonly calls: number;
}

/** Delivers one message, and each of its retries when its delay is over, up to the last one. */
export async function runToEnd(
  handler: (call: number, ageMs: number) => unknown,
  changes: Partial<ErrorHandlingOptions<string>> = {},
): Promise<History> {
  const pipeline = aPipeline(changes);
  const delaysSeconds: number[] = [];
  let calls = 0;
  let message = aMessage();
  const consume = withErrorHandling(
    (_message: PipelineMessage<string>) => handler(++calls, pipeline.now() - START),
    pipeline.options,
  );
  for (;;) {
    const { settle, action } = await consume(message);
    if (settle !== 'ack') throw new Error(`expected ack, got ${settle}`);
    if (action !== 'retry') break;
    const { topic, data, attributes } = pipeline.published.at(-1) as Publication;
    if (topic !== 'me-pubsub-delayer' || attributes[DELAYED_TOPIC] !== TOPIC) throw new Error(topic);
    const delayMs = durationMs(attributes[DELAY]) ?? Number.NaN;
    delaysSeconds.push(delayMs / 1000);
    pipeline.advance(delayMs);
    // The delayer publishes a new message; only its attributes show how old the event is.
    message = { id: `m-${calls + 1}`, data, attributes, publishTime: new Date(pipeline.now()) };
  }
  const { published, facts } = pipeline;
  return { delaysSeconds, published, facts, ageMs: pipeline.now() - START, calls };
}
