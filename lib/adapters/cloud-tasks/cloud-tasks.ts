import { inFlight } from '../../async/in-flight.ts';
import type { Publication } from '../../core/pipeline/plan-delay.ts';
import { causeText } from '../../core/text/error-text.ts';
import { timestampText } from '../../core/text/timestamp.ts';
import type { AccessToken } from '../../ports/publish-request.ts';
import type { Scheduled, ScheduledPublish } from '../../ports/scheduled-publish.ts';

export interface CloudTasksOptions {
  /** @default Google's endpoint */
  readonly endpoint?: string;
  readonly accessToken: AccessToken;
  /** E-mail of the service account with which a task publishes. */
  readonly serviceAccount: string;
  /** The Pub/Sub endpoint to which a task publishes. @default Google's endpoint */
  readonly pubSubEndpoint?: string;
}

const TASKS = 'https://cloudtasks.googleapis.com';
const PUBSUB = 'https://pubsub.googleapis.com';
/** Cloud Tasks requests an access token with only this scope when a task is due. */
const SCOPE = 'https://www.googleapis.com/auth/pubsub';
const TIMEOUT_MS = 10_000;

/** Creates a task per publication. Its target is Pub/Sub itself, so the delayer need not run when the task is due. */
export function cloudTasks(options: CloudTasksOptions): ScheduledPublish {
  const { endpoint = TASKS, accessToken } = options;
  const creations = inFlight();

  async function create(publication: Publication): Promise<Scheduled> {
    const url = `${endpoint}/v2/${publication.queue}/tasks`;
    const body = JSON.stringify({ task: taskOf(publication, options) });
    const reply = await post(url, body, accessToken);
    if (reply !== 'unauthorized') return reply;
    // The token may just have expired. If a new one is rejected too, the configuration is wrong.
    accessToken.forget();
    const again = await post(url, body, accessToken);
    return again === 'unauthorized'
      ? { ok: false, problem: `${url} answered 401: the access token was rejected` }
      : again;
  }

  return {
    schedule: (publication) => creations.track(create(publication)),
    close: () => creations.settled(),
  };
}

function taskOf(
  { name, queue, dueMs, topic, body }: Publication,
  { serviceAccount, pubSubEndpoint = PUBSUB }: CloudTasksOptions,
): object {
  return {
    name: `${queue}/tasks/${name}`,
    scheduleTime: timestampText(dueMs),
    httpRequest: {
      httpMethod: 'POST',
      url: `${pubSubEndpoint}/v1/${topic}:publish`,
      headers: { 'content-type': 'application/json' },
      body: Buffer.from(body).toString('base64'),
      oauthToken: { serviceAccountEmail: serviceAccount, scope: SCOPE },
    },
  };
}

async function post(
  url: string,
  body: string,
  accessToken: AccessToken,
): Promise<Scheduled | 'unauthorized'> {
  const token = await accessToken.get();
  if (!token.ok) return token;
  const headers = { 'content-type': 'application/json', authorization: `Bearer ${token.token}` };
  try {
    const signal = AbortSignal.timeout(TIMEOUT_MS);
    const response = await fetch(url, { method: 'POST', headers, body, signal });
    const text = await response.text();
    return response.status === 401 ? 'unauthorized' : replyFrom(url, response.status, text);
  } catch (error) {
    return { ok: false, problem: `${url}: ${causeText(error)}` };
  }
}

function replyFrom(url: string, status: number, text: string): Scheduled {
  if (status >= 200 && status < 300) return { ok: true, isNew: true };
  // A task of this name is waiting, or has run: the message was delivered before.
  if (status === 409) return { ok: true, isNew: false };
  const problem = `${url} answered ${status}: ${messageIn(text)}`;
  return status === 400 || status === 413
    ? { ok: false, problem, isPermanent: true }
    : { ok: false, problem };
}

const MAX_MESSAGE = 500;

/** The message of Google's error format `{"error":{"message"}}`, otherwise the beginning of the text. */
function messageIn(text: string): string {
  try {
    const { error } = JSON.parse(text) as { error?: { message?: unknown } };
    if (typeof error?.message === 'string') return error.message.slice(0, MAX_MESSAGE);
  } catch {
    // Not JSON: the response of a proxy.
  }
  return text.slice(0, MAX_MESSAGE);
}
