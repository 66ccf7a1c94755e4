import { createServer, type Server } from 'node:http';
import { connect, createServer as createHttp2Server } from 'node:http2';
import { createRequire } from 'node:module';
import type { AddressInfo } from 'node:net';
import { ReceiveMessageCommand, SendMessageCommand, SQSClient } from '@aws-sdk/client-sqs';
import { PubSub, v1 } from '@google-cloud/pubsub';
import { Agent, Client, interceptors, request, fetch as undiciFetch } from 'undici';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { decidePipeline } from '../../lib/core/pipeline/pipeline.ts';
import { classifyError } from '../../lib/error-handling/is-error-retriable.ts';
import { DEFAULT_SETTINGS } from '../../lib/error-handling/policy.ts';
import { type EmbeddedSqs, startEmbeddedSqs } from '../support/embedded-sqs.ts';

/** The reason of a rejected promise. */
async function thrownBy(promise: Promise<unknown>): Promise<unknown> {
  return promise.then(
    (value) => expect.unreachable(`fulfilled with ${value}`),
    (error) => error,
  );
}

function actionFor(thrown: unknown): string {
  const { fault, isNormal } = classifyError(thrown);
  return decidePipeline({ fault, isNormal, retryCount: 0, eventMs: 0, now: 0 }, DEFAULT_SETTINGS).action;
}

let server: Server;
let url: string;
/** An address that refuses connections. A port that was free a moment ago may be in use by another test. */
const REFUSING_URL = 'http://127.0.0.1:2';

beforeAll(async () => {
  server = createServer(({ url: path = '' }, response) => {
    if (path === '/never') return;
    if (path === '/breaks') return response.destroy();
    if (path === '/half') {
      response.writeHead(200, { 'content-length': 100 }).write('half');
      return setImmediate(() => response.destroy());
    }
    return response.writeHead(Number(path.slice(1)) || 503).end('{}');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});

afterAll(async () => {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});

describe("Node's HTTP/2", () => {
  /** The error that ended the stream of a request. */
  const requestError = (session: ReturnType<typeof connect>, headers = {}) =>
    thrownBy(
      new Promise((resolve, reject) => {
        session
          .request({ ':path': '/', ...headers })
          .on('error', reject)
          .on('close', resolve)
          .resume();
      }),
    );
  const sessionTo = (authority: string) => connect(authority).on('error', () => {});

  it('maps a lost session or stream to 502', async () => {
    const INTERNAL_ERROR = 2;
    const http2 = createHttp2Server().on('sessionError', () => {});
    http2.on('stream', (stream, { ':path': path }) => {
      stream.on('error', () => {});
      if (path === '/session') stream.session?.goaway(INTERNAL_ERROR);
      if (path === '/stream') stream.close(INTERNAL_ERROR);
    });
    await new Promise<void>((resolve) => http2.listen(0, '127.0.0.1', resolve));
    const authority = `http://127.0.0.1:${(http2.address() as AddressInfo).port}`;
    const session = sessionTo(authority);
    const cut = sessionTo(authority);
    const pending = requestError(cut);
    cut.destroy();
    const lost = [
      await requestError(session, { ':path': '/stream' }),
      await requestError(session, { ':path': '/session' }),
      await requestError(session),
      await pending,
    ];
    expect(lost.map((error) => (error as NodeJS.ErrnoException).code)).toEqual([
      'ERR_HTTP2_STREAM_ERROR',
      'ERR_HTTP2_SESSION_ERROR',
      'ERR_HTTP2_INVALID_SESSION',
      'ERR_HTTP2_STREAM_CANCEL',
    ]);
    for (const error of lost) {
      expect(classifyError(error).fault.httpStatus).toBe(502);
      expect(actionFor(error)).toBe('retry');
    }
    await new Promise((resolve) => http2.close(resolve));
  });

  it('maps a connection that could not be made by its cause', async () => {
    const error = await requestError(sessionTo(REFUSING_URL));
    expect(error).toMatchObject({ code: 'ERR_HTTP2_STREAM_CANCEL', cause: { code: 'ECONNREFUSED' } });
    expect(classifyError(error).fault.httpStatus).toBe(503);
  });

  it('escalates a programming error', async () => {
    const session = sessionTo(REFUSING_URL);
    const error = await thrownBy(Promise.resolve().then(() => session.request({ ':nothing': 'x' })));
    expect(error).toMatchObject({ code: 'ERR_HTTP2_INVALID_PSEUDOHEADER' });
    expect(actionFor(error)).toBe('escalate');
    session.destroy();
  });
});

describe("fetch's errors", () => {
  it.each([
    ['the platform', (path: string, init: object) => fetch(path, init)],
    ['undici', (path: string, init: object) => undiciFetch(path, init)],
  ])('of %s: connection refused, connection closed, timeout', async (_client, get) => {
    expect(classifyError(await thrownBy(get(REFUSING_URL, {}))).fault).toMatchObject({
      type: 'TypeError',
      httpStatus: 503,
      message: expect.stringMatching(/^fetch failed; caused by .*ECONNREFUSED/),
    });
    expect(classifyError(await thrownBy(get(`${url}/breaks`, {}))).fault.httpStatus).toBe(502);
    const half = get(`${url}/half`, {}).then((response) => response.text());
    expect(classifyError(await thrownBy(half)).fault.httpStatus).toBe(502);
    const slow = get(`${url}/never`, { signal: AbortSignal.timeout(5) });
    expect(classifyError(await thrownBy(slow)).fault).toMatchObject({
      type: 'TimeoutError',
      httpStatus: 504,
    });
  });

  it('with a Response as their cause', async () => {
    const load = async () => {
      const response = await fetch(`${url}/503`);
      if (!response.ok) throw new Error('no stock', { cause: response });
    };
    expect(classifyError(await thrownBy(load())).fault).toMatchObject({
      httpStatus: 503,
      message: 'no stock; caused by Response: HTTP 503',
    });
  });
});

describe("undici's errors", () => {
  it('for a slow response', async () => {
    const dispatcher = new Agent({ headersTimeout: 5 });
    const thrown = await thrownBy(request(`${url}/never`, { dispatcher }));
    expect(classifyError(thrown).fault).toMatchObject({ type: 'HeadersTimeoutError', httpStatus: 504 });
    await dispatcher.destroy();
  });

  it.each([
    [404, 'drop'],
    [400, 'escalate'],
    [429, 'retry'],
  ])('for a response with status %d', async (status, action) => {
    const dispatcher = new Agent().compose(interceptors.responseError());
    const thrown = await thrownBy(request(`${url}/${status}`, { dispatcher }));
    expect(classifyError(thrown).fault).toMatchObject({ type: 'ResponseError', httpStatus: status });
    expect(actionFor(thrown)).toBe(action);
    await dispatcher.close();
  });

  it('for a closed client', async () => {
    const client = new Client(url);
    const inFlight = client.request({ path: '/200', method: 'GET' });
    const closing = client.close();
    const thrown = await thrownBy(client.request({ path: '/200', method: 'GET' }));
    await (await inFlight).body.dump();
    await closing;
    expect(classifyError(thrown).fault).toMatchObject({ type: 'ClientClosedError' });
    expect(actionFor(thrown)).toBe('retry');
  });

  it('for an invalid call, which a retry cannot fix', async () => {
    expect(actionFor(await thrownBy(fetch('ftp://nowhere')))).toBe('escalate');
    expect(actionFor(await thrownBy((async () => request('ftp://nowhere'))()))).toBe('escalate');
  });
});

describe("errors of Google's closed clients", () => {
  const require = createRequire(import.meta.url);
  const grpc = createRequire(require.resolve('@google-cloud/pubsub'))('@grpc/grpc-js') as Grpc;
  const message = { data: Buffer.from('x') };

  it.each<readonly [string, () => Promise<unknown>]>([
    [
      'PubSub',
      async () => {
        const pubsub = new PubSub({ projectId: 'p', apiEndpoint: '127.0.0.1:2', emulatorMode: true });
        await pubsub.close();
        await pubsub.topic('t').publishMessage(message);
      },
    ],
    [
      'a generated client',
      async () => {
        const client = new v1.PublisherClient({
          servicePath: '127.0.0.1',
          port: 2,
          projectId: 'p',
          sslCreds: grpc.credentials.createInsecure() as never,
        });
        await client.initialize();
        await client.close();
        await client.publish({ topic: 'projects/p/topics/t', messages: [message] });
      },
    ],
    ['a gRPC channel', async () => callOnClosed((client, call) => [client.close(), call()])],
    [
      'a gRPC channel, while it connects',
      async () => callOnClosed((client, call) => [call(), client.close()]),
    ],
  ])('%s: ClientClosedError, retried until the delays are used up', async (_client, call) => {
    const thrown = await thrownBy(call());
    const { fault } = classifyError(thrown);
    expect([fault.type, ...fault.mro]).toContain('ClientClosedError');
    expect(fault).not.toHaveProperty('httpStatus');
    expect(actionFor(thrown)).toBe('retry');
    const { length } = DEFAULT_SETTINGS.delaysSeconds;
    const used = { fault, isNormal: false, retryCount: length, eventMs: 0, now: 0 };
    expect(decidePipeline(used, DEFAULT_SETTINGS).action).toBe('drop');
  });

  function callOnClosed(order: (client: GrpcClient, call: () => void) => unknown): Promise<void> {
    return new Promise((resolve, reject) => {
      const client = new grpc.Client('127.0.0.1:2', grpc.credentials.createInsecure());
      const call = () =>
        client.makeUnaryRequest(
          '/a/b',
          () => Buffer.alloc(0),
          () => undefined,
          {},
          (error) => (error === null ? resolve() : reject(error)),
        );
      order(client, call);
    });
  }

  it.each([
    ['a string, as google-gax sometimes throws', 'The client has already been closed.'],
    ['Firestore', new Error('The client has already been terminated')],
    ['an ack after the subscriber was closed', new Error('INVALID : Subscriber closed')],
    ['a cause', new Error('could not publish', { cause: new Error('Channel has been shut down') })],
  ])('are recognized: %s', (_source, thrown) => {
    const { fault } = classifyError(thrown);
    expect([fault.type, ...fault.mro]).toContain('ClientClosedError');
    expect(actionFor(thrown)).toBe('retry');
  });

  it('are not confused with similar messages', () => {
    expect(actionFor(new Error('The client has already been closed by the customer'))).toBe('escalate');
    expect(actionFor(new Error('Account closed'))).toBe('escalate');
  });
});

/** The part of @grpc/grpc-js that is used here. Only Google's package depends on it. */
interface Grpc {
  readonly credentials: { createInsecure(): object };
  readonly Client: new (address: string, credentials: object) => GrpcClient;
}
interface GrpcClient {
  close(): void;
  makeUnaryRequest(
    path: string,
    serialize: () => Buffer,
    deserialize: () => undefined,
    argument: object,
    callback: (error: Error | null) => void,
  ): void;
}

describe("the AWS SDK's errors", () => {
  let sqs: EmbeddedSqs;
  const clientOf = (endpoint: string) =>
    new SQSClient({
      endpoint,
      region: 'us-east-1',
      maxAttempts: 1,
      credentials: { accessKeyId: 'local', secretAccessKey: 'local' },
    });
  const send = (client: SQSClient, queue: string) =>
    client.send(new SendMessageCommand({ QueueUrl: queue, MessageBody: 'x' }));

  beforeAll(async () => {
    sqs = await startEmbeddedSqs();
  });
  afterAll(() => sqs.close());

  it('for a missing queue: 400, which is escalated', async () => {
    const QueueUrl = `${sqs.endpoint}/000000000000/missing`;
    const thrown = await thrownBy(sqs.client.send(new ReceiveMessageCommand({ QueueUrl })));
    expect(classifyError(thrown).fault).toMatchObject({
      type: 'QueueDoesNotExist',
      mro: expect.arrayContaining(['ServiceException', 'Error', 'Exception']),
      httpStatus: 400,
    });
    expect(actionFor(thrown)).toBe('escalate');
  });

  it('for a service that is down or unreachable', async () => {
    const down = clientOf(url);
    const unreachable = clientOf(REFUSING_URL);
    expect(classifyError(await thrownBy(send(down, url))).fault.httpStatus).toBe(503);
    expect(classifyError(await thrownBy(send(unreachable, REFUSING_URL))).fault.httpStatus).toBe(503);
    down.destroy();
    unreachable.destroy();
  });
});
