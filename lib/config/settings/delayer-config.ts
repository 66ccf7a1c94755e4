import { fullTopicName } from '../../core/pipeline/delay-request.ts';
import type { QueueMapping } from '../../core/pipeline/queue-mapping.ts';
import type { Mistake } from '../../core/text/mistake.ts';
import type { TaskQueue } from './delayer-names.ts';
import { DELAYER_SETTINGS } from './delayer-settings.ts';
import { type PushTrust, pushTrustFrom } from './push-settings.ts';
import { noteUnknownVariables, readSettings, type SettingValues } from './read-settings.ts';
import { type Environment, setVariables } from './variables.ts';

/** What the delayer is told, compiled: full names, nothing left to look up or fall back on. */
export interface DelayerConfig {
  readonly project: string;
  readonly engine: DelayerEngine;
  readonly queues: QueueMapping;
  /** By its full name. */
  readonly errorsTopic: string;
  readonly push: PushTrust;
  /** Undefined: asked for at the metadata server. */
  readonly accessToken?: string;
  readonly metadataHost?: string;
  readonly pubSubEndpoint?: string;
  readonly gracePeriodMs: number;
  readonly logLevel: 'debug' | 'info' | 'warn' | 'error';
  readonly port: number;
}

type DelayerEngine =
  | { readonly kind: 'cloud-tasks'; readonly serviceAccount: string; readonly endpoint?: string }
  | { readonly kind: 'timer-file'; readonly path: string };

export type DelayerReading =
  | { readonly config: DelayerConfig }
  /** Every mistake there is, not only the first. */
  | { readonly mistakes: readonly [Mistake, ...Mistake[]] };

type Values = SettingValues<typeof DELAYER_SETTINGS>;

/** Nothing falls back in silence: what is wrong stops the start. */
export function delayerConfigFrom(env: Environment): DelayerReading {
  const mistakes: Mistake[] = [];
  const variables = setVariables(DELAYER_SETTINGS, env);
  noteUnknownVariables('DELAYER_', DELAYER_SETTINGS, variables, mistakes);
  const values = readSettings(DELAYER_SETTINGS, variables, mistakes);
  const config = configFrom(values, mistakes);
  // What was mistyped is not missing too.
  const told = mistakes.filter(
    ({ place, problem }, index) =>
      !problem.startsWith('is not set') || mistakes.findIndex((one) => one.place === place) === index,
  );
  const [first, ...others] = told;
  return first === undefined ? { config } : { mistakes: [first, ...others] };
}

/** Where mistakes are noted, what is returned holds stand-ins and is not for use. */
function configFrom(values: Values, mistakes: Mistake[]): DelayerConfig {
  const project = needed('DELAYER_PROJECT_ID', values, 'for example "my-project"', mistakes);
  const { DELAYER_ERRORS_TOPIC: topic = '' } = values;
  return {
    project,
    engine: engineFrom(values, mistakes),
    queues: queuesFrom(values, project, mistakes),
    errorsTopic: fullTopicName({ topic }, project),
    push: pushTrustFrom(
      {
        auth: values.DELAYER_PUSH_AUTH,
        audience: values.DELAYER_PUSH_AUDIENCE,
        serviceAccount: values.DELAYER_PUSH_SERVICE_ACCOUNT,
        jwksUrl: values.DELAYER_PUSH_JWKS_URL,
      },
      'DELAYER_PUSH_',
      mistakes,
    ),
    ...present('accessToken', values.DELAYER_ACCESS_TOKEN),
    ...present('metadataHost', values.GCE_METADATA_HOST),
    ...present('pubSubEndpoint', values.DELAYER_PUBSUB_ENDPOINT),
    gracePeriodMs: values.DELAYER_GRACE_PERIOD ?? 0,
    logLevel: values.DELAYER_LOG_LEVEL ?? 'info',
    port: values.PORT ?? 0,
  };
}

function engineFrom(values: Values, mistakes: Mistake[]): DelayerEngine {
  if (values.DELAYER_ENGINE === 'timer-file') {
    const path = needed('DELAYER_TIMER_FILE', values, 'and DELAYER_ENGINE is "timer-file"', mistakes);
    return { kind: 'timer-file', path };
  }
  const example = 'for example "delayer@my-project.iam.gserviceaccount.com"';
  const serviceAccount = needed('DELAYER_TASK_SERVICE_ACCOUNT', values, example, mistakes);
  return { kind: 'cloud-tasks', serviceAccount, ...present('endpoint', values.DELAYER_TASKS_ENDPOINT) };
}

/** A file of timers has one queue, whatever it is called. */
const ONLY_QUEUE: TaskQueue = { queue: 'timers', parent: 'local' };

function queuesFrom(values: Values, project: string, mistakes: Mistake[]): QueueMapping {
  const { DELAYER_LOCATION: location, DELAYER_QUEUES: byTopic = [], DELAYER_QUEUE: otherwise } = values;
  if (values.DELAYER_ENGINE === 'timer-file') return { byTopic: [], defaultQueue: fullQueue(ONLY_QUEUE, '') };
  const all = [...byTopic.map(([, queue]) => queue), ...(otherwise === undefined ? [] : [otherwise])];
  const short = all.find(({ parent }) => parent === undefined);
  if (short !== undefined && location === undefined) {
    const problem = `is not set, and the queue "${short.queue}" is named without its location; it takes a region like "europe-west1"`;
    mistakes.push({ place: 'DELAYER_LOCATION', problem });
  }
  if (otherwise === undefined) {
    mistakes.push({
      place: 'DELAYER_QUEUE',
      problem: 'is not set; it names a queue of Cloud Tasks, for example "delays"',
    });
  }
  const parent = `projects/${project}/locations/${location}`;
  return {
    byTopic: byTopic.map(([pattern, queue]) => [pattern, fullQueue(queue, parent)]),
    defaultQueue: fullQueue(otherwise ?? ONLY_QUEUE, parent),
  };
}

function fullQueue({ queue, parent }: TaskQueue, ownParent: string): string {
  return `${parent ?? ownParent}/queues/${queue}`;
}

function needed<Name extends keyof Values>(
  name: Name,
  values: Values,
  words: string,
  mistakes: Mistake[],
): string {
  const value = values[name];
  if (value === undefined) mistakes.push({ place: name, problem: `is not set, ${words}` });
  return String(value ?? '');
}

function present<Key extends string, T>(key: Key, value: T | undefined): { readonly [K in Key]?: T } {
  return value === undefined ? {} : ({ [key]: value } as { readonly [K in Key]?: T });
}
