import { createHash, createHmac } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { text } from 'node:stream/consumers';
import type { SQSEvent } from 'aws-lambda';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { aStep } from '../core/a-task.ts';
import { type EmbeddedStores, startEmbeddedStores } from '../support/embedded-stores.ts';

const KEY = 'asya_on_lambda';
const SECRET = 'a secret of the mesh, long enough to be one';

interface Metadata {
  readonly statusCode: number;
  readonly headers: Readonly<Record<string, string>>;
}

type Stream = PassThrough & { metadata?: Metadata };
type StreamHandler = (event: unknown, stream: Stream, context: unknown) => Promise<void>;

let folder: string;
let embedded: EmbeddedStores;
let handler: StreamHandler;
let reports: (event: unknown) => Promise<{ statusCode: number; body: string }>;
let timer: (event: SQSEvent) => Promise<{ batchItemFailures: readonly unknown[] }>;
beforeAll(async () => {
  embedded = await startEmbeddedStores();
  for (const queue of ['one', 'x-gateway']) await embedded.sqs.createQueue(queue);
  folder = mkdtempSync(join(tmpdir(), 'asya-flows-'));
  const flowsFile = join(folder, 'flows.yaml');
  writeFileSync(
    flowsFile,
    'flows:\n- {name: quick, entrypoint: one, timeout: 3}\n- {name: endless, entrypoint: one}\n',
  );
  const sha256 = createHash('sha256').update(KEY).digest('hex');
  const variables = {
    ...embedded.variables,
    ASYA_GATEWAY_FLOWS_FILE: flowsFile,
    ASYA_GATEWAY_KEYS: JSON.stringify([{ id: 'me', sha256 }]),
  };
  for (const [name, value] of Object.entries(variables)) vi.stubEnv(name, value);
  // Like Lambda's runtime: the metadata is attached to the stream, and the body is written in chunks.
  vi.stubGlobal('awslambda', {
    streamifyResponse: (handle: StreamHandler) => handle,
    HttpResponseStream: {
      from: (stream: Stream, metadata: Metadata) => Object.assign(stream, { metadata }),
    },
  });
  handler = (await import('../../functions/gateway/index.ts')).handler as unknown as StreamHandler;
  timer = (await import('../../functions/gateway-timer/index.ts')).handler;
  vi.stubEnv('ASYA_GATEWAY_SECRET', SECRET);
  reports = (await import('../../functions/gateway-reports/index.ts')).handler as unknown as typeof reports;
});
afterAll(async () => {
  vi.unstubAllEnvs();
  vi.unstubAllGlobals();
  await embedded.close();
  rmSync(folder, { recursive: true, force: true });
});

function eventOf(method: string, path: string, body: string | undefined, headers: object): object {
  return {
    version: '2.0',
    rawPath: path,
    rawQueryString: '',
    headers: { 'content-type': 'application/json', host: 'gateway.example', ...headers },
    requestContext: { http: { method, path }, domainName: 'gateway.example' },
    body: body ?? null,
    isBase64Encoded: false,
  };
}

function request(
  method: string,
  path: string,
  body?: string,
  key = KEY,
  headers: object = {},
): { stream: Stream; done: Promise<void> } {
  const stream: Stream = new PassThrough();
  const event = eventOf(method, path, body, { authorization: `Bearer ${key}`, ...headers });
  return { stream, done: handler(event, stream, {}) };
}

function signatureOf(body: string, secret = SECRET): object {
  const seconds = Math.floor(Date.now() / 1000);
  const mac = createHmac('sha256', secret).update(`${seconds}.${body}`).digest('hex');
  return { 'x-asya-signature': `t=${seconds},v1=${mac}` };
}

async function textOf({ stream, done }: ReturnType<typeof request>): Promise<string> {
  const [whole] = await Promise.all([text(stream), done]);
  return whole;
}

async function fire(): Promise<number> {
  const [message] = await embedded.sqs.takeUntil('x-gateway', 1);
  const Records = [{ messageId: 'm', body: message?.Body ?? '' }];
  return (await timer({ Records } as unknown as SQSEvent)).batchItemFailures.length;
}

describe('the gateway on Lambda', () => {
  it('rejects a request without a key', async () => {
    const rejected = request('GET', '/flows', undefined, 'wrong');
    expect(JSON.parse(await textOf(rejected))).toMatchObject({ status: 401 });
    expect(rejected.stream.metadata).toMatchObject({
      statusCode: 401,
      headers: { 'content-type': 'application/problem+json' },
    });
  });

  it('streams events as they happen, until the timer ends the task', async () => {
    const created = request('POST', '/flows/quick', '{"n":1}');
    const { id } = JSON.parse(await textOf(created));
    expect(created.stream.metadata).toMatchObject({ statusCode: 201, headers: { location: `/tasks/${id}` } });
    expect((await embedded.sqs.takeUntil('one', 1))[0]?.Body).toContain(id);
    // From the first event: on a busy machine the task may time out before the stream is opened.
    const events = request('GET', `/tasks/${id}/events`, undefined, KEY, { 'last-event-id': '0' });
    let seen = '';
    events.stream.on('data', (chunk) => {
      seen += chunk;
    });
    await expect.poll(() => seen).toContain('event: created');
    expect(events.stream.metadata?.headers['content-type']).toBe('text/event-stream');
    expect(await fire()).toBe(0);
    const task = JSON.parse(await textOf(request('GET', `/tasks/${id}`)));
    expect(task).toMatchObject({ state: 'failed', error: { message: 'envelope timed out' } });
    await events.done;
    await expect.poll(() => seen).toContain('event: ended');
  });

  it('reschedules timers while the table is down, and ends a task once', async () => {
    const { id } = JSON.parse(await textOf(request('POST', '/flows/quick', '{}')));
    const [message] = await embedded.sqs.takeUntil('x-gateway', 1);
    const event = { Records: [{ messageId: 'm', body: message?.Body ?? '' }] } as unknown as SQSEvent;
    await embedded.dynamoDb.goDown();
    expect((await timer(event)).batchItemFailures).toEqual([]);
    expect((await embedded.sqs.counts('x-gateway')).delayed).toBeGreaterThan(0);
    await embedded.dynamoDb.recover();
    for (let time = 0; time < 2; time++) expect((await timer(event)).batchItemFailures).toEqual([]);
    const task = JSON.parse(await textOf(request('GET', `/tasks/${id}`)));
    expect(task.state).toBe('failed');
  });

  it('accepts reports only in the reports function, and nothing else there', async () => {
    const { id } = JSON.parse(await textOf(request('POST', '/flows/endless', '{}')));
    const body = JSON.stringify({ reports: [aStep('received', 0, { task: id, envelope_id: id })] });
    const stateNow = async () => JSON.parse(await textOf(request('GET', `/tasks/${id}`))).state;

    const withKey = request('POST', '/reports', body, KEY, signatureOf(body));
    expect(JSON.parse(await textOf(withKey))).toMatchObject({ status: 404 });
    const without = request('POST', '/reports', body, 'none', signatureOf(body));
    expect(JSON.parse(await textOf(without))).toMatchObject({ status: 401 });
    const forged = await reports(eventOf('POST', '/reports', body, signatureOf(body, 'another secret')));
    expect(forged.statusCode).toBe(401);
    expect(await stateNow()).toBe('pending');

    const taken = await reports(eventOf('POST', '/reports', body, signatureOf(body)));
    expect([taken.statusCode, JSON.parse(taken.body)]).toEqual([200, { canceled: [] }]);
    expect(await stateNow()).toBe('running');

    const withCredentials = { authorization: `Bearer ${KEY}`, ...signatureOf('') };
    for (const path of ['/flows', '/tasks', `/tasks/${id}`, '/openapi.json', '/healthz', '/mcp', '/a2a'])
      expect((await reports(eventOf('GET', path, undefined, withCredentials))).statusCode).toBe(404);
    expect((await reports(eventOf('GET', '/reports', undefined, withCredentials))).statusCode).toBe(405);
  });
});
