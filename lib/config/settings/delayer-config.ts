import { fullTopicName } from '../../core/pipeline/delay-request.ts';
import type { QueueMapping } from '../../core/pipeline/queue-mapping.ts';
import { defined } from '../../core/text/defined.ts';
import type { Mistake } from '../../core/text/mistake.ts';
import { readGroup, reportUnknownVariables, settingsByVariable } from './group.ts';
import { DELAYER } from './groups/delayer.ts';
import { type PushTrust, pushTrustFrom } from './groups/push.ts';
import type { ReadValues } from './setting.ts';
import type { TaskQueue } from './task-queue.ts';
import { type Environment, setVariables } from './variables.ts';

/** The compiled configuration of the delayer: full names, defaults filled in. */
export interface DelayerConfig {
  readonly project: string;
  readonly engine: DelayerEngine;
  readonly queues: QueueMapping;
  /** Full name. */
  readonly errorsTopic: string;
  readonly push: PushTrust;
  /** Undefined: requested from the metadata server. */
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
  /** All mistakes, not only the first. */
  | { readonly mistakes: readonly [Mistake, ...Mistake[]] };

type DelayerValues = ReadValues<typeof DELAYER>;

const DELAYER_SETTINGS = settingsByVariable([DELAYER]);

/** Reads the environment of the delayer. A value that is not valid is a mistake; no default replaces it. */
export function delayerConfigFrom(env: Environment): DelayerReading {
  const found: Mistake[] = [];
  const variables = setVariables(DELAYER_SETTINGS, env);
  reportUnknownVariables('DELAYER_', DELAYER_SETTINGS, variables, found);
  const config = configFrom(readGroup(DELAYER, variables, found), found);
  // A variable with an invalid value is not also reported as missing.
  const mistakes = found.filter(
    ({ place, problem }, index) =>
      !problem.startsWith('is not set') || found.findIndex((one) => one.place === place) === index,
  );
  const [first, ...others] = mistakes;
  return first === undefined ? { config } : { mistakes: [first, ...others] };
}

/** If there are mistakes, the configuration contains placeholders and must not be used. */
function configFrom(values: DelayerValues, mistakes: Mistake[]): DelayerConfig {
  const { accessToken, metadataHost, pubSubEndpoint, gracePeriodMs, logLevel, port } = values;
  const project = required('project', values, 'expected a project such as "my-project"', mistakes);
  return {
    project,
    engine: engineFrom(values, mistakes),
    queues: queuesFrom(values, project, mistakes),
    errorsTopic: fullTopicName({ topic: values.errorsTopic }, project),
    push: pushTrustFrom(values, 'DELAYER_PUSH_', mistakes),
    ...defined({ accessToken, metadataHost, pubSubEndpoint }),
    gracePeriodMs,
    logLevel,
    port,
  };
}

function engineFrom(values: DelayerValues, mistakes: Mistake[]): DelayerEngine {
  if (values.engine === 'timer-file') {
    const path = required('timerFile', values, 'DELAYER_ENGINE=timer-file requires it', mistakes);
    return { kind: 'timer-file', path };
  }
  const example = 'expected an email address such as "delayer@my-project.iam.gserviceaccount.com"';
  const serviceAccount = required('taskServiceAccount', values, example, mistakes);
  return { kind: 'cloud-tasks', serviceAccount, ...defined({ endpoint: values.tasksEndpoint }) };
}

/** A timer file has a single queue, and its name does not matter. */
const ONLY_QUEUE: TaskQueue = { queue: 'timers', parent: 'local' };

function queuesFrom(values: DelayerValues, project: string, mistakes: Mistake[]): QueueMapping {
  const { location, queuesByTopic, queue: defaultQueue } = values;
  if (values.engine === 'timer-file') return { byTopic: [], defaultQueue: fullQueue(ONLY_QUEUE, '') };
  const all = [
    ...queuesByTopic.map(([, queue]) => queue),
    ...(defaultQueue === undefined ? [] : [defaultQueue]),
  ];
  const short = all.find(({ parent }) => parent === undefined);
  if (short !== undefined && location === undefined) {
    const problem = `is not set, and the name of queue "${short.queue}" has no location; expected a region like "europe-west1"`;
    mistakes.push({ place: DELAYER.location.variable, problem });
  }
  if (defaultQueue === undefined) {
    const problem = 'is not set; expected the name of a Cloud Tasks queue, for example "delays"';
    mistakes.push({ place: DELAYER.queue.variable, problem });
  }
  const parent = `projects/${project}/locations/${location}`;
  return {
    byTopic: queuesByTopic.map(([pattern, queue]) => [pattern, fullQueue(queue, parent)]),
    defaultQueue: fullQueue(defaultQueue ?? ONLY_QUEUE, parent),
  };
}

function fullQueue({ queue, parent }: TaskQueue, ownParent: string): string {
  return `${parent ?? ownParent}/queues/${queue}`;
}

function required(
  key: 'project' | 'timerFile' | 'taskServiceAccount',
  values: DelayerValues,
  reason: string,
  mistakes: Mistake[],
): string {
  const value = values[key];
  if (value === undefined) mistakes.push({ place: DELAYER[key].variable, problem: `is not set; ${reason}` });
  return value ?? '';
}
