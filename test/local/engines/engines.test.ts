import { mkdirSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import {
  CreateTableCommand,
  DescribeTableCommand,
  type DynamoDBClient,
  GetItemCommand,
  ListTablesCommand,
  PutItemCommand,
} from '@aws-sdk/client-dynamodb';
import {
  CreateBucketCommand,
  GetObjectCommand,
  ListBucketsCommand,
  PutObjectCommand,
} from '@aws-sdk/client-s3';
import {
  ChangeMessageVisibilityCommand,
  ListQueuesCommand,
  ReceiveMessageCommand,
  SendMessageCommand,
} from '@aws-sdk/client-sqs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { queueDepths } from '../../../lib/adapters/sqs/queue-depths.ts';
import { sdkSqs } from '../../../lib/adapters/sqs/sdk-sqs.ts';
import { queuePlan } from '../../../lib/config/plan/queue-plan.ts';
import { defined } from '../../../lib/core/text/defined.ts';
import { startEngines } from '../../../lib/local/engines/engines.ts';
import { freePort } from '../../sidecar/free-port.ts';
import { endProcesses, startProcess, temporaryFolder, until } from '../../sidecar/sidecar-process.ts';
import { type RawRequest, rawAnswer } from '../../support/raw-request.ts';
import { FOREIGN_EVERYWHERE, FROM_ANY_BROWSER } from '../foreign-requests.ts';
import { clientsOf, ensurePair, startTestEngines, type TestEngines } from '../test-engines.ts';

afterAll(endProcesses);

type Clients = Pick<TestEngines, 'sqs' | 's3' | 'dynamodb'>;
const PLAN = { ...queuePlan(60), maxReceiveCount: 2 };
const TABLE = {
  TableName: 'tasks',
  AttributeDefinitions: [{ AttributeName: 'id', AttributeType: 'S' as const }],
  KeySchema: [{ AttributeName: 'id', KeyType: 'HASH' as const }],
  BillingMode: 'PAY_PER_REQUEST' as const,
};

async function receive({ sqs }: Pick<Clients, 'sqs'>, QueueUrl: string, VisibilityTimeout?: number) {
  const request = { QueueUrl, MaxNumberOfMessages: 10, MessageSystemAttributeNames: ['All' as const] };
  const hidden = defined({ VisibilityTimeout });
  const { Messages = [] } = await sqs.send(new ReceiveMessageCommand({ ...request, ...hidden }));
  return Messages;
}

/** Stores a message in each possible state, an object and an item. */
async function fill(clients: Clients): Promise<void> {
  const { sqs, s3, dynamodb } = clients;
  const { queue } = await ensurePair(sqs, 'score', PLAN);
  const send = (MessageBody: string, DelaySeconds = 0) =>
    sqs.send(new SendMessageCommand({ QueueUrl: queue.url, MessageBody, DelaySeconds }));
  await send('dead');
  for (let time = 0; time < PLAN.maxReceiveCount; time++) {
    const [message] = await receive(clients, queue.url);
    const { ReceiptHandle } = message ?? {};
    await sqs.send(
      new ChangeMessageVisibilityCommand({ QueueUrl: queue.url, ReceiptHandle, VisibilityTimeout: 0 }),
    );
  }
  expect(await receive(clients, queue.url)).toEqual([]);
  await send('in flight');
  await receive(clients, queue.url, 3_600);
  await send('delayed', 900);
  await send('waiting');
  await s3.send(new CreateBucketCommand({ Bucket: 'archive' }));
  await s3.send(new PutObjectCommand({ Bucket: 'archive', Key: 'a/b.json', Body: '{"a":1}' }));
  await dynamodb.send(new CreateTableCommand(TABLE));
  await expect.poll(() => statusOf(dynamodb)).toBe('ACTIVE');
  await dynamodb.send(new PutItemCommand({ TableName: 'tasks', Item: { id: { S: 'one' } } }));
}

async function statusOf(dynamodb: DynamoDBClient): Promise<string | undefined> {
  const { Table } = await dynamodb.send(new DescribeTableCommand({ TableName: 'tasks' }));
  return Table?.TableStatus;
}

/** Checks that all data is present, and that messages in flight are visible again with their receive count. */
async function expectFilled(clients: Clients): Promise<void> {
  const { sqs, s3, dynamodb } = clients;
  expect(await queueDepths(sdkSqs(sqs), 'score')).toEqual({
    visible: 2,
    inFlight: 0,
    delayed: 1,
    deadLettered: 1,
  });
  const { queue, deadLetterQueue, change } = await ensurePair(sqs, 'score', PLAN);
  expect(change).toBe('none');
  const counts = (await receive(clients, queue.url)).map(({ Body, Attributes }) => [
    Body,
    Attributes?.ApproximateReceiveCount,
  ]);
  expect(Object.fromEntries(counts)).toEqual({ 'in flight': '2', waiting: '1' });
  expect((await receive(clients, deadLetterQueue.url)).map(({ Body }) => Body)).toEqual(['dead']);
  const { Body } = await s3.send(new GetObjectCommand({ Bucket: 'archive', Key: 'a/b.json' }));
  expect(await Body?.transformToString()).toBe('{"a":1}');
  const { Item } = await dynamodb.send(
    new GetItemCommand({ TableName: 'tasks', Key: { id: { S: 'one' } }, ConsistentRead: true }),
  );
  expect(Item).toEqual({ id: { S: 'one' } });
}

describe('persistent data', () => {
  test('survives a close', async () => {
    const dataDir = join(await temporaryFolder(), 'data');
    const before = await startTestEngines({ dataDir });
    await fill(before);
    await before.close();
    const after = await startTestEngines({ dataDir });
    await expectFilled(after);
    await after.close();
  });

  test('survives a SIGKILL, and is locked while its process lives', async () => {
    const dataDir = await temporaryFolder();
    const holder = startProcess([join(import.meta.dirname, '../engines-process.ts'), dataDir], {});
    const started = await holder.untilLine(({ message }) => message === 'started');
    const clients = clientsOf(started as never);
    await fill(clients);

    const second = await startEngines({ dataDir });
    expect(second).toEqual({
      problem: `the data in ${dataDir} is in use by another mesh; stop that mesh, or choose another folder`,
    });

    holder.signal('SIGKILL');
    await holder.untilExit();
    for (const client of Object.values(clients)) client.destroy();
    const after = await startTestEngines({ dataDir });
    await expectFilled(after);
    await after.close();
  });

  test('that cannot be read is reported', async () => {
    const notAFolder = join(await temporaryFolder(), 'file');
    writeFileSync(notAFolder, '');
    expect(await startEngines({ dataDir: notAFolder })).toEqual({
      problem: expect.stringMatching(/^cannot use the data in .*file: EEXIST.*; repair or remove/),
    });
    const corrupted = await temporaryFolder();
    mkdirSync(join(corrupted, 'sqs'));
    writeFileSync(join(corrupted, 'sqs/fauxqs.db'), 'this is not a database'.repeat(99));
    expect(await startEngines({ dataDir: corrupted })).toEqual({
      problem: expect.stringMatching(/^cannot use the data in .*: file is not a database; repair or remove/),
    });
    const partlyCorrupted = await temporaryFolder();
    writeFileSync(join(partlyCorrupted, 'dynamodb'), '');
    expect(await startEngines({ dataDir: partlyCorrupted })).toEqual({
      problem: expect.stringMatching(/^cannot use the data in .*: .*; repair or remove/),
    });
  });
});

test('reports a port that is in use, and stops the other engine', async () => {
  const port = await freePort();
  const local = await startTestEngines({ sqsPort: port });
  expect(local.engines.sqsEndpoint).toBe(`http://127.0.0.1:${port}`);
  const problem = `port ${port} on 127.0.0.1 is already in use; stop the process that listens there, or choose another port`;
  expect(await startEngines({ sqsPort: port })).toEqual({ problem });
  const other = await freePort();
  expect(await startEngines({ sqsPort: other, dynamodbPort: port })).toEqual({ problem });
  expect(await isOpen(other)).toBe(false);
  await local.close();
  expect(await isOpen(port)).toBe(false);
});

test('a process can exit after it closed the engines', async () => {
  const [engines, dataDir] = [
    join(import.meta.dirname, '../../../lib/local/engines/engines.ts'),
    await temporaryFolder(),
  ];
  const code = `
    const { startEngines } = await import(${JSON.stringify(engines)});
    const { engines } = await startEngines({ dataDir: ${JSON.stringify(dataDir)} });
    await Promise.all([engines.sqsEndpoint, engines.dynamodbEndpoint].map((url) => fetch(url)));
    await engines.close();`;
  const program = startProcess(['--input-type=module', '--eval', code], {});
  expect(await program.untilExit()).toEqual({ code: 0, signal: null });
  expect(program.output()).not.toMatch(/Warning/);
});

test('a client that disconnects during a request does not affect others', async () => {
  const local = await startTestEngines();
  for (const endpoint of [local.engines.dynamodbEndpoint, local.engines.sqsEndpoint]) {
    const socket = connect(Number(new URL(endpoint).port), '127.0.0.1');
    const { host } = new URL(endpoint);
    socket.write(`POST / HTTP/1.1\r\nHost: ${host}\r\nContent-Length: 1000\r\n\r\n{"half":`);
    await new Promise((resolve) => setTimeout(resolve, 50));
    socket.destroy();
  }
  await until(async () => (await fetch(local.engines.dynamodbEndpoint)).ok, 'the engine still answers');
  await local.close();
});

describe('requests of a web page in a browser on this machine', () => {
  let local: TestEngines;
  beforeAll(async () => {
    local = await startTestEngines();
  });
  afterAll(() => local.close());

  type Service = 'sqs' | 'sns' | 's3' | 'dynamodb';
  const endpointOf = (service: Service) =>
    new URL(service === 'dynamodb' ? local.engines.dynamodbEndpoint : local.engines.sqsEndpoint);
  const form = (action: string) => ({
    method: 'POST',
    headers: [['Content-Type', 'application/x-www-form-urlencoded']] as const,
    body: new URLSearchParams({ Action: action, Name: 'made', Version: '2010-03-31' }).toString(),
  });
  const json = (target: string, body: unknown, version = '1.0') => ({
    method: 'POST',
    headers: [
      ['Content-Type', `application/x-amz-json-${version}`],
      ['X-Amz-Target', target],
      ['X-Amz-Date', '20260101T000000Z'],
      ['Authorization', 'AWS4-HMAC-SHA256 Credential=a, SignedHeaders=b, Signature=c'],
    ] as const,
    body: JSON.stringify(body),
  });
  /** Requests that create something in each service when a program sends them. */
  const CREATE: Readonly<Record<Service, RawRequest>> = {
    sqs: json('AmazonSQS.CreateQueue', { QueueName: 'made' }),
    sns: form('CreateTopic'),
    s3: { method: 'PUT', target: '/made', headers: [] },
    dynamodb: json('DynamoDB_20120810.CreateTable', { ...TABLE, TableName: 'made' }),
  };
  const fromProgram = (service: Service, request: RawRequest): RawRequest => ({
    ...request,
    headers: [['Host', endpointOf(service).host], ...request.headers],
  });

  async function created(service: Service): Promise<boolean> {
    const { sqs, s3, dynamodb } = local;
    switch (service) {
      case 'sqs':
        return JSON.stringify(await sqs.send(new ListQueuesCommand())).includes('made');
      case 'sns': {
        const { text } = await sendRequest('sns', fromProgram('sns', form('ListTopics')));
        expect(text).toContain('ListTopicsResult');
        return text.includes('made');
      }
      case 's3':
        return JSON.stringify(await s3.send(new ListBucketsCommand())).includes('made');
      case 'dynamodb':
        return JSON.stringify(await dynamodb.send(new ListTablesCommand())).includes('made');
    }
  }

  const sendRequest = (service: Service, request: RawRequest) =>
    rawAnswer(Number(endpointOf(service).port), request);

  describe.each(['sqs', 'sns', 's3', 'dynamodb'] as const)('cannot use %s', (service) => {
    test.each([...FOREIGN_EVERYWHERE, ...FROM_ANY_BROWSER])('with $what', async ({ change }) => {
      const { host } = endpointOf(service);
      const answer = await sendRequest(service, change(fromProgram(service, CREATE[service]), host));
      expect(answer).toMatchObject({ status: 403, head: expect.stringContaining('connection: close') });
      expect(answer.text).toContain(`local engines serve programs on this machine at ${host} only\n`);
      expect(answer.head).not.toContain('access-control-');
      expect(await created(service)).toBe(false);
    });

    test('are accepted from a program', async () => {
      const { status } = await sendRequest(service, fromProgram(service, CREATE[service]));
      expect([status, await created(service)]).toEqual([200, true]);
    });
  });

  test("are distinguished from Node's fetch, which sends Sec-Fetch-Mode too", async () => {
    const url = `${local.engines.s3Endpoint}/fetched`;
    expect((await fetch(url, { method: 'PUT' })).status).toBe(200);
    await fetch(`${url}/key`, { method: 'PUT', body: 'text' });
    expect(await (await fetch(`${url}/key`)).text()).toBe('text');
  });
});

function isOpen(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket.once('connect', () => resolve(true)).once('error', () => resolve(false));
    socket.once('connect', () => socket.destroy());
  });
}
