import { DEFAULT_DELAYER_TOPIC } from '../../../core/pipeline/delayer.ts';
import { defined } from '../../../core/text/defined.ts';
import { describeValue } from '../../../core/text/describe-value.ts';
import type { Mistake } from '../../../core/text/mistake.ts';
import { hostAndPort } from '../addresses.ts';
import { text } from '../kinds.ts';
import { queueName } from '../queue-name.ts';
import { optional, setting } from '../setting.ts';
import { type TransportContext, transportSettings } from '../transport-settings.ts';

/** In the configuration: `pubsub`. */
export const PUBSUB = transportSettings({
  title: 'Pub/Sub',
  settings: {
    projectId: optional('ASYA_PUBSUB_PROJECT_ID', text, {
      about: 'Google Cloud project. Required with `ASYA_TRANSPORT=pubsub`.',
      unset: 'none',
    }),
    endpoint: optional('ASYA_PUBSUB_ENDPOINT', hostAndPort, {
      about: 'Custom Pub/Sub endpoint. Any host outside `googleapis.com` counts as an emulator.',
      unset: "`PUBSUB_EMULATOR_HOST`, then Google's",
    }),
    delayerTopic: setting('ASYA_PUBSUB_DELAYER_TOPIC', text, {
      about: 'Topic of the delayer, which delivers messages later.',
      default: DEFAULT_DELAYER_TOPIC,
    }),
  },
  selectedBy: 'ASYA_PUBSUB_PROJECT_ID',
  complete: (read, context) => {
    const { isSelected, env, mistakes } = context;
    if (!isSelected) return read;
    checkTopicName(context);
    if (read.projectId === undefined) {
      const problem = 'is not set; ASYA_TRANSPORT=pubsub requires it';
      mistakes.push({ place: 'ASYA_PUBSUB_PROJECT_ID', problem });
    }
    // Google's own tools name an emulator in this variable.
    const endpoint = read.endpoint ?? emulatorFrom(env['PUBSUB_EMULATOR_HOST'], mistakes);
    return { ...read, ...defined({ endpoint }) };
  },
});

function emulatorFrom(host: string | undefined, mistakes: Mistake[]): string | undefined {
  if (host === undefined || host === '') return undefined;
  const reading = hostAndPort.read(host);
  if ('value' in reading) return reading.value;
  mistakes.push({ place: 'PUBSUB_EMULATOR_HOST', problem: `is ${describeValue(host)}; ${reading.problem}` });
  return undefined;
}

const MIN_TOPIC_NAME = 3;

/** Pub/Sub has stricter rules for the names of topics than we have for the names of actors. */
function checkTopicName({ actor, namespace, mistakes }: TransportContext): void {
  const topic = queueName(actor.name, namespace);
  if (actor.name === '') return;
  if (topic.length >= MIN_TOPIC_NAME && /^[a-z]/.test(topic) && !topic.startsWith('goog')) return;
  const problem = `makes the topic name "${topic}", which Pub/Sub rejects: a name has at least ${MIN_TOPIC_NAME} characters, starts with a letter, and does not start with "goog"; with ASYA_NAMESPACE, every name starts with "asya-"`;
  mistakes.push({ place: 'ASYA_ACTOR_NAME', problem });
}
