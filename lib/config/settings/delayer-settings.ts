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

/** Every variable that the delayer knows: read at start, listed in docs/pubsub-delayer.md. */
export const DELAYER_SETTINGS = {
  DELAYER_PROJECT_ID: unset(text, "Google Cloud's project, of topics and queues. Required.", '-'),
  DELAYER_ENGINE: setting(
    oneOf('cloud-tasks', 'timer-file'),
    '`cloud-tasks`: each message waits as a task. `timer-file`: a file of timers stands in for Cloud Tasks, for one machine.',
    'cloud-tasks',
  ),
  DELAYER_LOCATION: unset(
    text,
    'The region of the queues that are named without one. Required for those.',
    'none',
  ),
  DELAYER_QUEUE: unset(
    taskQueue,
    'The queue of every topic that `DELAYER_QUEUES` does not name. Required with Cloud Tasks.',
    '-',
  ),
  DELAYER_QUEUES: setting(
    taskQueuesByTopic,
    'Queues by topic: the exact name first, then the first pattern that fits (`*`, `?`).',
    '{}',
  ),
  DELAYER_TASK_SERVICE_ACCOUNT: unset(
    serviceAccount,
    'The service account that tasks publish as. Required with Cloud Tasks.',
    '-',
  ),
  DELAYER_TIMER_FILE: unset(absolutePath, 'The file of the timers. Required with `timer-file`.', '-'),
  DELAYER_ERRORS_TOPIC: setting(
    topicName,
    'Where what cannot be delayed goes, with the reason.',
    DEFAULT_ERRORS_TOPIC,
  ),
  DELAYER_PUSH_AUTH: setting(
    pushAuth,
    "`oidc`: a push needs a token of Google's, whose signature is checked here. `iam`: the same, but Cloud Run asks for authentication itself, and takes the signature out. `none`: anybody may push, for an emulator, which sends no token.",
    'oidc',
  ),
  DELAYER_PUSH_AUDIENCE: unset(
    text,
    'Whom the token of a push must be for. Required unless `DELAYER_PUSH_AUTH` is `none`.',
    '-',
  ),
  DELAYER_PUSH_SERVICE_ACCOUNT: unset(
    serviceAccount,
    'The service account that the subscription pushes as. Required unless `DELAYER_PUSH_AUTH` is `none`.',
    '-',
  ),
  DELAYER_PUSH_JWKS_URL: unset(keysUrl, 'Where the keys are that tokens are signed with.', "Google's"),
  DELAYER_ACCESS_TOKEN: unset(
    hiddenText,
    'A token for Cloud Tasks and Pub/Sub; it is not renewed.',
    'asked for at the metadata server',
  ),
  DELAYER_TASKS_ENDPOINT: unset(url('http', 'https'), "Another Cloud Tasks than Google's.", "Google's"),
  DELAYER_PUBSUB_ENDPOINT: unset(
    url('http', 'https'),
    'Another Pub/Sub, such as an emulator; it is sent no token.',
    "Google's",
  ),
  DELAYER_GRACE_PERIOD: setting(
    duration,
    'How long what is in flight may take when it is told to stop.',
    '8s',
  ),
  DELAYER_LOG_LEVEL: setting(oneOf('debug', 'info', 'warn', 'error'), 'The least that is logged.', 'info'),
  GCE_METADATA_HOST: unset(text, "Another metadata server, as Google's own clients read it.", "Google's"),
  PORT: setting(wholeNumber(0, 65_535), 'Where it listens; Cloud Run sets it. 0: any free port.', '8080'),
} as const;
