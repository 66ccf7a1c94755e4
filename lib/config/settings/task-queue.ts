import { isTopicId } from '../../core/pipeline/delay-request.ts';
import type { Kind } from './kinds.ts';

/** A Cloud Tasks queue, by its short or full name. */
export interface TaskQueue {
  readonly queue: string;
  /** Undefined: the delayer's own project and location. */
  readonly parent?: string;
}

const QUEUE = /^[A-Za-z0-9-]{1,100}$/;
const FULL_QUEUE = /^(projects\/[a-z0-9.:-]+\/locations\/[a-z0-9-]+)\/queues\/([A-Za-z0-9-]{1,100})$/;
const QUEUE_RULE =
  'expected a queue like "delays" or "projects/my-project/locations/europe-west1/queues/delays"';

function queueFromText(text: string): TaskQueue | undefined {
  const [, parent, queue] = FULL_QUEUE.exec(text) ?? [];
  if (parent !== undefined && queue !== undefined) return { parent, queue };
  return QUEUE.test(text) ? { queue: text } : undefined;
}

function queueText({ queue, parent }: TaskQueue): string {
  return parent === undefined ? queue : `${parent}/queues/${queue}`;
}

export const taskQueue: Kind<TaskQueue> = {
  takes: 'the name of a queue, short or full',
  read: (text) => {
    const value = queueFromText(text);
    return value === undefined ? { problem: QUEUE_RULE } : { value };
  },
  write: queueText,
};

export type QueuesByTopic = readonly (readonly [pattern: string, queue: TaskQueue])[];

const QUEUES_RULE =
  'expected a JSON object of queues by topic like {"orders":"orders-delays","billing-*":"slow"}';
const PATTERN = /^[A-Za-z0-9._~+%*?/:-]+$/;

export const taskQueuesByTopic: Kind<QueuesByTopic> = {
  takes: 'a JSON object like `{"orders":"orders-delays","billing-*":"slow"}`',
  read: (text) => {
    const entries = entriesOf(text);
    if (entries === undefined) return { problem: QUEUES_RULE };
    const value: (readonly [string, TaskQueue])[] = [];
    for (const [pattern, name] of entries) {
      const queue = typeof name === 'string' ? queueFromText(name) : undefined;
      if (!PATTERN.test(pattern))
        return { problem: `${JSON.stringify(pattern)} is not a valid topic; ${QUEUES_RULE}` };
      if (queue === undefined) return { problem: `"${pattern}" has ${JSON.stringify(name)}; ${QUEUE_RULE}` };
      value.push([pattern, queue]);
    }
    return { value };
  },
  write: (queues) =>
    JSON.stringify(Object.fromEntries(queues.map(([topic, queue]) => [topic, queueText(queue)]))),
};

function entriesOf(text: string): readonly [string, unknown][] | undefined {
  try {
    const value: unknown = JSON.parse(text);
    const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
    return isObject ? Object.entries(value) : undefined;
  } catch {
    return undefined;
  }
}

export const topicName: Kind<string> = {
  takes: 'the name of a topic',
  read: (value) =>
    isTopicId(value) ? { value } : { problem: 'expected the name of a topic like "sending-mg-errors"' },
  write: (value) => value,
};
