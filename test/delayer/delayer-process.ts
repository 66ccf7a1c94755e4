import { join } from 'node:path';
import { DELAY, DELAYED_TOPIC } from '../../lib/core/pipeline/delayer.ts';
import {
  ROOT,
  type RunningProcess,
  saying,
  startProcess,
  type Variables,
} from '../sidecar/sidecar-process.ts';
import { type Answer, anHttpServer, type HttpServer } from './a-http-server.ts';

export const QUEUE = 'projects/shop/locations/europe-west1/queues/delays';

/** Starts the delayer in its own process, as when deployed. */
export function startDelayer(variables: Variables): RunningProcess {
  return startProcess([join(ROOT, 'functions/pubsub-delayer/index.ts')], { PORT: '0', ...variables });
}

/** Waits until the delayer listens. */
export async function urlOf(delayer: RunningProcess): Promise<string> {
  const { port } = await delayer.untilLine(saying('listening'));
  return `http://127.0.0.1:${port}`;
}

export interface Push {
  readonly id?: string;
  readonly data?: string;
  readonly attributes?: Readonly<Record<string, string>>;
  readonly publishTime?: string;
}

/** The body of a request from a push subscription. */
export function pushBody({ id = '1', data = 'the data', attributes = {}, publishTime }: Push): string {
  const time = publishTime ?? new Date().toISOString();
  return JSON.stringify({
    message: {
      attributes,
      data: Buffer.from(data).toString('base64'),
      messageId: id,
      message_id: id,
      publishTime: time,
      publish_time: time,
    },
    subscription: 'projects/shop/subscriptions/me-pubsub-delayer',
  });
}

export const delayAttributes = (delay: string, topic = 'orders') => ({
  [DELAY]: delay,
  [DELAYED_TOPIC]: topic,
});

export async function post(
  url: string,
  body: string,
  headers: Readonly<Record<string, string>> = {},
): Promise<{ status: number; text: string }> {
  const response = await fetch(url, {
    method: 'POST',
    body,
    headers: { 'content-type': 'application/json', ...headers },
  });
  return { status: response.status, text: await response.text() };
}

export interface PublishedMessage {
  readonly topic: string;
  readonly data: string;
  readonly attributes: Readonly<Record<string, string>>;
  readonly authorization: string | undefined;
}

/**
 * A fake of Pub/Sub's REST API: every topic has a subscription, and `published` collects what is published. `answer` is
 * called first, and a status other than 200 is returned to the client.
 */
export async function aPubSub(
  answer: () => Answer | undefined = () => ({ status: 200, body: '{"messageIds":["1"]}' }),
): Promise<HttpServer & { readonly published: PublishedMessage[] }> {
  const published: PublishedMessage[] = [];
  const server = await anHttpServer(({ method, path, text, headers }) => {
    const answered = answer();
    if (answered?.status !== 200) return answered;
    if (method === 'GET')
      return { status: 200, body: '{"subscriptions":["projects/shop/subscriptions/one"]}' };
    const [, topic = ''] = /^\/v1\/projects\/shop\/topics\/(.+):publish$/.exec(path) ?? [];
    for (const { data = '', attributes } of JSON.parse(text).messages)
      published.push({
        topic,
        data: Buffer.from(data, 'base64').toString(),
        attributes,
        authorization: headers.authorization,
      });
    return answered;
  });
  return { ...server, published };
}
