import { DEFAULT_ERRORS_TOPIC } from '../../../core/pipeline/pipeline.ts';
import { absolutePath, duration, hiddenText, oneOf, text, url, wholeNumber } from '../kinds.ts';
import { optional, setting } from '../setting.ts';
import { taskQueue, taskQueuesByTopic, topicName } from '../task-queue.ts';
import { logLevel } from './host.ts';
import { pushTrustSettings, serviceAccount } from './push.ts';

/** Every variable of the delayer: read at startup, listed in docs/pubsub-delayer.md. */
export const DELAYER = {
  project: optional('DELAYER_PROJECT_ID', text, {
    about: 'Google Cloud project of the topics and queues. Required.',
    unset: '-',
  }),
  engine: setting('DELAYER_ENGINE', oneOf('cloud-tasks', 'timer-file'), {
    about:
      '`cloud-tasks`: each message waits as a task. `timer-file`: a file replaces Cloud Tasks, for one machine only.',
    default: 'cloud-tasks',
  }),
  location: optional('DELAYER_LOCATION', text, {
    about: 'Region of queues whose names do not include one. Required for such queues.',
    unset: 'none',
  }),
  queue: optional('DELAYER_QUEUE', taskQueue, {
    about: 'Queue for topics that `DELAYER_QUEUES` does not match. Required with `cloud-tasks`.',
    unset: '-',
  }),
  queuesByTopic: setting('DELAYER_QUEUES', taskQueuesByTopic, {
    about: 'Queues by topic: an exact name first, then the first pattern that matches (`*`, `?`).',
    default: '{}',
  }),
  taskServiceAccount: optional('DELAYER_TASK_SERVICE_ACCOUNT', serviceAccount, {
    about: 'Service account that tasks use to publish. Required with `cloud-tasks`.',
    unset: '-',
  }),
  timerFile: optional('DELAYER_TIMER_FILE', absolutePath, {
    about: 'Path of the timer file. Required with `timer-file`.',
    unset: '-',
  }),
  errorsTopic: setting('DELAYER_ERRORS_TOPIC', topicName, {
    about: 'Topic for messages that cannot be delayed, with the reason.',
    default: DEFAULT_ERRORS_TOPIC,
  }),
  ...pushTrustSettings('DELAYER_PUSH_', 'the delayer'),
  accessToken: optional('DELAYER_ACCESS_TOKEN', hiddenText, {
    about: 'Access token for Cloud Tasks and Pub/Sub. It is not renewed.',
    unset: 'from the metadata server',
  }),
  tasksEndpoint: optional('DELAYER_TASKS_ENDPOINT', url('http', 'https'), {
    about: 'Custom Cloud Tasks endpoint, for tests.',
    unset: "Google's",
  }),
  pubSubEndpoint: optional('DELAYER_PUBSUB_ENDPOINT', url('http', 'https'), {
    about: 'Custom Pub/Sub endpoint, such as an emulator. The delayer sends it no token.',
    unset: "Google's",
  }),
  gracePeriodMs: setting('DELAYER_GRACE_PERIOD', duration, {
    about: 'How long messages in progress may take after SIGTERM.',
    default: '8s',
  }),
  logLevel: setting('DELAYER_LOG_LEVEL', logLevel, { about: 'Minimum level of log lines.', default: 'info' }),
  metadataHost: optional('GCE_METADATA_HOST', text, {
    about: "Host of the metadata server; Google's own clients read the same variable.",
    unset: "Google's",
  }),
  port: setting('PORT', wholeNumber(0, 65_535), {
    about: 'Port of the HTTP server; set by Cloud Run. 0: any free port.',
    default: '8080',
  }),
};
