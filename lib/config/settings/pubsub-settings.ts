import { defined } from '../../core/text/defined.ts';
import { describeValue } from '../../core/text/describe-value.ts';
import type { Mistake } from '../../core/text/mistake.ts';
import { hostAndPort } from './addresses.ts';
import { queueName } from './queue-name.ts';
import type { SidecarConfig } from './sidecar-config.ts';

export interface PubsubValues {
  readonly ASYA_PUBSUB_PROJECT_ID: string | undefined;
  readonly ASYA_PUBSUB_ENDPOINT: string | undefined;
  readonly ASYA_PUBSUB_DELAYER_TOPIC: string | undefined;
}

/** What is needed on Pub/Sub is a mistake only where Pub/Sub is the transport. */
export function readPubsub(
  values: PubsubValues,
  isTransport: boolean,
  /** `PUBSUB_EMULATOR_HOST`, as Google's own tools name an emulator. */
  emulator: string | undefined,
  mistakes: Mistake[],
): SidecarConfig['pubsub'] {
  const projectId = values.ASYA_PUBSUB_PROJECT_ID;
  if (isTransport && projectId === undefined) {
    mistakes.push({ place: 'ASYA_PUBSUB_PROJECT_ID', problem: 'is not set, and ASYA_TRANSPORT is "pubsub"' });
  }
  const endpoint =
    values.ASYA_PUBSUB_ENDPOINT ?? (isTransport ? readEmulator(emulator, mistakes) : undefined);
  return {
    ...defined({ projectId, endpoint }),
    delayerTopic: values.ASYA_PUBSUB_DELAYER_TOPIC ?? '',
  };
}

function readEmulator(text: string | undefined, mistakes: Mistake[]): string | undefined {
  if (text === undefined || text === '') return undefined;
  const reading = hostAndPort.read(text);
  if ('value' in reading) return reading.value;
  mistakes.push({ place: 'PUBSUB_EMULATOR_HOST', problem: `is ${describeValue(text)}; ${reading.problem}` });
  return undefined;
}

const MIN_NAME = 3;

/** A topic's name begins with a letter and is no shorter than three; an actor's may be and do otherwise. */
export function noteUnfitTopicName(actor: string, namespace: string | undefined, mistakes: Mistake[]): void {
  const topic = queueName(actor, namespace);
  if (topic.length >= MIN_NAME && /^[a-z]/.test(topic) && !topic.startsWith('goog')) return;
  const problem = `makes a topic's name that Pub/Sub refuses, "${topic}": it takes ${MIN_NAME} characters or more that begin with a letter, and not with "goog"; set ASYA_NAMESPACE, and all begin with "asya-"`;
  mistakes.push({ place: 'ASYA_ACTOR_NAME', problem });
}
