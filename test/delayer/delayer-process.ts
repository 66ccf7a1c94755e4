import { join } from 'node:path';
import { DELAY, DELAYED_TOPIC } from '../../lib/core/pipeline/delayer.ts';
import {
  ROOT,
  type RunningProcess,
  saying,
  startProcess,
  type Variables,
} from '../sidecar/sidecar-process.ts';
import { anHttpServer, type GivenAnswer, type HttpServer } from './a-http-server.ts';

export const QUEUE = 'projects/shop/locations/europe-west1/queues/delays';

/** The delayer as it is deployed, a process of its own. */
export function startDelayer(variables: Variables): RunningProcess {
  return startProcess([join(ROOT, 'functions/pubsub-delayer/index.ts')], { PORT: '0', ...variables });
}

export async function listeningAt(delayer: RunningProcess): Promise<string> {
  const { port } = await delayer.untilLine(saying('listening'));
  return `http://127.0.0.1:${port}`;
}

export interface Push {
  readonly id?: string;
  readonly data?: string;
  readonly attributes?: Readonly<Record<string, string>>;
  readonly publishTime?: string;
}

/** As Pub/Sub posts it. */
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

export const asking = (delay: string, topic = 'orders') => ({ [DELAY]: delay, [DELAYED_TOPIC]: topic });

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

export interface PublishedThere {
  readonly topic: string;
  readonly data: string;
  readonly attributes: Readonly<Record<string, string>>;
  readonly authorization: string | undefined;
}

/** Pub/Sub's publish endpoint, which remembers, of topics that are heard; `answer` may say no. */
export async function aPubSub(
  answer: () => GivenAnswer | undefined = () => ({ status: 200, body: '{"messageIds":["1"]}' }),
): Promise<HttpServer & { readonly published: PublishedThere[] }> {
  const published: PublishedThere[] = [];
  const server = await anHttpServer(({ method, path, text, headers }) => {
    const given = answer();
    if (given?.status !== 200) return given;
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
    return given;
  });
  return { ...server, published };
}
