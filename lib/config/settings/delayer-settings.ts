import { DEFAULT_ERRORS_TOPIC } from '../../core/pipeline/pipeline.ts';
import { keysUrl } from './addresses.ts';
import { taskQueue, taskQueuesByTopic, topicName } from './delayer-names.ts';
import { pushAuth, serviceAccount } from './push-settings.ts';
import {
  absolutePath,
  duration,
  hiddenText,
  oneOf,
  setting,
  text,
  unset,
  url,
  wholeNumber,
} from './setting.ts';

/** Every variable of the delayer: read at startup, listed in docs/pubsub-delayer.md. */
export const DELAYER_SETTINGS = {
  DELAYER_PROJECT_ID: unset(text, 'Google Cloud project of the topics and queues. Required.', '-'),
  DELAYER_ENGINE: setting(
    oneOf('cloud-tasks', 'timer-file'),
    '`cloud-tasks`: each message waits as a task. `timer-file`: a file replaces Cloud Tasks, for one machine only.',
    'cloud-tasks',
  ),
  DELAYER_LOCATION: unset(
    text,
    'Region of queues whose names do not include one. Required for such queues.',
    'none',
  ),
  DELAYER_QUEUE: unset(
    taskQueue,
    'Queue for topics that `DELAYER_QUEUES` does not match. Required with `cloud-tasks`.',
    '-',
  ),
  DELAYER_QUEUES: setting(
    taskQueuesByTopic,
    'Queues by topic: an exact name first, then the first pattern that matches (`*`, `?`).',
    '{}',
  ),
  DELAYER_TASK_SERVICE_ACCOUNT: unset(
    serviceAccount,
    'Service account that tasks use to publish. Required with `cloud-tasks`.',
    '-',
  ),
  DELAYER_TIMER_FILE: unset(absolutePath, 'Path of the timer file. Required with `timer-file`.', '-'),
  DELAYER_ERRORS_TOPIC: setting(
    topicName,
    'Topic for messages that cannot be delayed, with the reason.',
    DEFAULT_ERRORS_TOPIC,
  ),
  DELAYER_PUSH_AUTH: setting(
    pushAuth,
    '`oidc`: a push needs a token from Google, and the delayer verifies its signature. `iam`: Cloud Run verifies and removes the signature; the delayer checks the other claims. `none`: anyone may push; for emulators, which send no token.',
    'oidc',
  ),
  DELAYER_PUSH_AUDIENCE: unset(
    text,
    'Audience that the token of a push must have. Required unless `DELAYER_PUSH_AUTH` is `none`.',
    '-',
  ),
  DELAYER_PUSH_SERVICE_ACCOUNT: unset(
    serviceAccount,
    'Service account that the subscription uses to push. Required unless `DELAYER_PUSH_AUTH` is `none`.',
    '-',
  ),
  DELAYER_PUSH_JWKS_URL: unset(keysUrl, 'URL of the keys that verify tokens.', "Google's"),
  DELAYER_ACCESS_TOKEN: unset(
    hiddenText,
    'Access token for Cloud Tasks and Pub/Sub. It is not renewed.',
    'from the metadata server',
  ),
  DELAYER_TASKS_ENDPOINT: unset(url('http', 'https'), 'Endpoint of Cloud Tasks, for tests.', "Google's"),
  DELAYER_PUBSUB_ENDPOINT: unset(
    url('http', 'https'),
    'Endpoint of another Pub/Sub, such as an emulator. The delayer sends it no token.',
    "Google's",
  ),
  DELAYER_GRACE_PERIOD: setting(duration, 'How long messages in progress may take after SIGTERM.', '8s'),
  DELAYER_LOG_LEVEL: setting(oneOf('debug', 'info', 'warn', 'error'), 'Minimum level of log lines.', 'info'),
  GCE_METADATA_HOST: unset(
    text,
    "Host of the metadata server; Google's own clients read the same variable.",
    "Google's",
  ),
  PORT: setting(
    wholeNumber(0, 65_535),
    'Port of the HTTP server; set by Cloud Run. 0: any free port.',
    '8080',
  ),
} as const;
