import { describeReceived } from '../text/describe-value.ts';
import { durationMs } from '../text/duration.ts';
import { DELAY, DELAYED_TOPIC } from './delayer.ts';

export type Attributes = Readonly<Record<string, string>>;

/** A valid request for a delay. */
export interface DelayRequest {
  readonly delayMs: number;
  readonly topic: TopicName;
  /** The attributes to publish: without the two that request the delay. */
  readonly attributes: Attributes;
}

export interface TopicName {
  /** Undefined: the delayer's project. */
  readonly project?: string;
  readonly topic: string;
}

/** The delay that a message requests, or all problems with the request. */
export function readDelayRequest(attributes: Attributes): DelayRequest | { readonly problem: string } {
  const { [DELAY]: delay, [DELAYED_TOPIC]: topicText, ...rest } = attributes;
  const delayMs = delayMsFromText(delay);
  const topic = topicFromText(topicText);
  const problems = [
    ...(delayMs === undefined ? [`${DELAY} ${describeReceived(delay)}; ${DELAY_RULE}`] : []),
    ...(topic === undefined ? [`${DELAYED_TOPIC} ${describeReceived(topicText)}; ${TOPIC_RULE}`] : []),
  ];
  return delayMs === undefined || topic === undefined
    ? { problem: problems.join('. ') }
    : { delayMs, topic, attributes: rest };
}

const MS_PER_DAY = 86_400_000;
const DELAY_RULE = 'expected a delay such as "1m32s", "500s", "12000ms" or "1d12h"';

/** Reads a duration that may start with days: "1d12h". */
export function delayMsFromText(text: string | undefined): number | undefined {
  const [, days, rest] = /^(?:(\d{1,9})d)?(.*)$/s.exec(text ?? '') ?? [];
  if (days === undefined) return durationMs(rest);
  const restMs = rest === '' ? 0 : durationMs(rest);
  return restMs === undefined ? undefined : Number(days) * MS_PER_DAY + restMs;
}

const TOPIC_RULE = 'expected a topic name such as "orders" or "projects/my-project/topics/orders"';
/** Pub/Sub's rules, so that an invalid topic is rejected before the message is scheduled. */
const TOPIC = /^(?!goog)[A-Za-z][A-Za-z0-9._~+%-]{2,254}$/;
const FULL_TOPIC = /^projects\/([a-z0-9.:-]{1,100})\/topics\/([^/]+)$/;

export function isTopicId(text: string): boolean {
  return TOPIC.test(text);
}

function topicFromText(text: string | undefined): TopicName | undefined {
  if (text === undefined) return undefined;
  const [, project, id] = FULL_TOPIC.exec(text) ?? [];
  const topic = id ?? text;
  if (!isTopicId(topic)) return undefined;
  return project === undefined ? { topic } : { project, topic };
}

/** The topic's name in Google's APIs. */
export function fullTopicName({ project, topic }: TopicName, ownProject: string): string {
  return `projects/${project ?? ownProject}/topics/${topic}`;
}
