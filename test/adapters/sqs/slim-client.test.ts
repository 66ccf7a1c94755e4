import { createHash } from 'node:crypto';
import { describe, expect, it, onTestFinished } from 'vitest';
import { awsJsonService } from '../../../lib/adapters/aws-http/json-service.ts';
import { httpClient } from '../../../lib/adapters/http-client/http-client.ts';
import {
  type SlimSqsTransportOptions,
  slimSqsTransport,
} from '../../../lib/adapters/sqs/slim-sqs-transport.ts';
import { systemClock } from '../../../lib/adapters/system/system.ts';
import type { Transport } from '../../../lib/ports/transport.ts';
import { useProxiedSqs } from './a-proxied-sqs.ts';
import { type FaultInjector, onAction } from './faulty-proxy.ts';

const sqs = useProxiedSqs();

const OK = { ok: true };
const ACCOUNT = '000000000000';
/** No pauses between attempts. */
const clock = { ...systemClock, sleep: async () => {} };

function optionsOf(endpoint: string): SlimSqsTransportOptions {
  const random = () => 0;
  const access = { endpoint, region: 'us-east-1', env: {}, http: httpClient(), clock, random };
  const service = awsJsonService('sqs', access);
  service.connect();
  return { service, clock, random, account: ACCOUNT, visibilitySeconds: 30, waitSeconds: 1 };
}

function slim(options: Partial<SlimSqsTransportOptions> = {}): Transport {
  const transport = slimSqsTransport({ ...optionsOf(sqs().proxy.endpoint), ...options });
  onTestFinished(() => transport.close());
  return transport;
}

const sendAll = (transport: Transport, bodies: readonly string[]) =>
  Promise.all(bodies.map((body) => transport.send(sqs().queue, body)));

const md5 = (text: string) => createHash('md5').update(text).digest('hex');

/** Answers the first requests of an action with these outputs. */
function outputs(action: string, ...given: readonly object[]): FaultInjector {
  let index = 0;
  return (request) => {
    const output = request.action === action ? given[index++] : undefined;
    return output === undefined
      ? undefined
      : { kind: 'fake-success', output: output as Record<string, unknown> };
  };
}

describe('the URL of a queue', () => {
  it('is built from the account, without a request', async () => {
    const { proxy, queue } = sqs();
    const transport = slim();
    expect(await transport.send(queue, '1')).toEqual(OK);
    expect(proxy.requests.map(({ action, input }) => [action, input.QueueUrl])).toEqual([
      ['SendMessageBatch', `${proxy.endpoint}/${ACCOUNT}/${queue}`],
    ]);
  });

  it('is requested once without an account', async () => {
    const { proxy, queue } = sqs();
    const { account: _account, ...withoutAccount } = optionsOf(proxy.endpoint);
    const transport = slimSqsTransport(withoutAccount);
    onTestFinished(() => transport.close());
    for (const body of ['1', '2']) expect(await transport.send(queue, body)).toEqual(OK);
    expect(proxy.requestsOf('GetQueueUrl')).toHaveLength(1);
  });

  it('of a queue that does not exist is refused by the first send, and accepted as soon as the queue exists', async () => {
    const { engine, queue } = sqs();
    const transport = slim();
    const missing = `${queue}-missing`;
    const refused = { ok: false, problem: `queue "${missing}" does not exist`, isQueueMissing: true };
    expect(await transport.send(missing, '1')).toEqual(refused);
    expect(await transport.checkQueue(missing)).toEqual(refused);
    await engine.createQueue(missing);
    expect(await transport.send(missing, '1')).toEqual(OK);
    expect(await transport.checkQueue(missing)).toEqual(OK);
  });
});

describe('the connection', () => {
  it('opens before the first send, which uses it', async () => {
    const { proxy, queue } = sqs();
    const transport = slim();
    await expect.poll(() => proxy.openConnections).toBe(1);
    expect(proxy.requests).toEqual([]);
    expect(await transport.send(queue, '1')).toEqual(OK);
    expect(await transport.send(queue, '2')).toEqual(OK);
    expect(proxy.connections).toBe(1);
  });

  it('is replaced at once if it went stale', async () => {
    const { proxy, queue } = sqs();
    const transport = slim();
    await transport.send(queue, '1');
    proxy.inject(({ connection }) => (connection === 1 ? { kind: 'drop' } : undefined));
    expect(await transport.send(queue, '2')).toEqual(OK);
    expect(proxy.connections).toBe(2);
  });
});

describe('entries that fail', () => {
  it('are sent again, without those that were accepted', async () => {
    const { proxy, queue, engine } = sqs();
    const failing = onAction(
      'SendMessageBatch',
      {
        kind: 'fail-entries',
        isChosen: ({ MessageBody }) => /[37]/.test(MessageBody ?? ''),
      },
      1,
    );
    proxy.inject(failing);
    const bodies = Array.from({ length: 10 }, (_, index) => `${index}`);
    expect(await sendAll(slim(), bodies)).toEqual(bodies.map(() => OK));
    const sent = proxy
      .requestsOf('SendMessageBatch')
      .map(({ input }) => input.Entries?.map(({ MessageBody }) => MessageBody));
    expect(sent).toEqual([bodies, ['3', '7']]);
    expect((await engine.takeUntil(queue, 10)).map(({ Body }) => Body).toSorted()).toEqual(bodies);
  });

  it('are refused one by one if they fail three times', async () => {
    const { proxy } = sqs();
    proxy.inject(
      onAction('SendMessageBatch', {
        kind: 'fail-entries',
        isChosen: ({ MessageBody }) => MessageBody === '1',
      }),
    );
    expect(await sendAll(slim(), ['0', '1', '2'])).toEqual([
      OK,
      { ok: false, problem: 'InternalError: injected failure of one entry' },
      OK,
    ]);
    expect(proxy.requestsOf('SendMessageBatch').map(({ input }) => input.Entries?.length)).toEqual([3, 1, 1]);
  });

  it('are not sent again if the sender is at fault', async () => {
    const { proxy } = sqs();
    const fault = { Code: 'InvalidMessageContents', Message: 'no', SenderFault: true };
    proxy.inject(
      outputs('SendMessageBatch', {
        Successful: [{ Id: '0', MD5OfMessageBody: md5('0') }],
        Failed: [{ Id: '1', ...fault }],
      }),
    );
    expect(await sendAll(slim(), ['0', '1'])).toEqual([
      OK,
      { ok: false, problem: 'InvalidMessageContents: no' },
    ]);
    expect(proxy.requestsOf('SendMessageBatch')).toHaveLength(1);
  });

  it.each([
    ['for good', { SenderFault: true }, []],
    ['and also afterwards', { SenderFault: false }, ['0']],
    ['and are not mentioned afterwards', { SenderFault: false }, []],
  ])('are refused if the answer also says that they succeeded: %s', async (_what, fault, again) => {
    const { proxy } = sqs();
    const both = (ids: readonly string[]) => ({
      Successful: ids.map((Id) => ({ Id, MD5OfMessageBody: md5(Id) })),
      Failed: ids.map((Id) => ({ Id, Code: 'InternalError', Message: 'sorry', ...fault })),
    });
    proxy.inject(outputs('SendMessageBatch', both(['0']), both(again), both(again)));
    expect(await sendAll(slim(), ['0'])).toEqual([{ ok: false, problem: expect.any(String) }]);
  });

  it('keep their failure if the request that repeats them fails', async () => {
    const { proxy } = sqs();
    const failed = { Id: '1', Code: 'InternalError', Message: 'sorry', SenderFault: false };
    proxy.inject(
      outputs('SendMessageBatch', {
        Successful: [{ Id: '0', MD5OfMessageBody: md5('0') }],
        Failed: [failed],
      }),
    );
    proxy.inject(({ input }) =>
      input.Entries?.length === 1 ? { kind: 'refuse', status: 400, code: 'AccessDenied' } : undefined,
    );
    expect(await sendAll(slim(), ['0', '1'])).toEqual([OK, { ok: false, problem: 'InternalError: sorry' }]);
  });

  it('are sent again by acks and extensions as well', async () => {
    const { proxy, engine, queue } = sqs();
    const transport = slim();
    await sendAll(transport, ['0', '1']);
    const receipt = await transport.receive(queue, 10, AbortSignal.timeout(60_000));
    const [one, other] = receipt.ok ? receipt.deliveries : [];
    if (one === undefined || other === undefined) throw new Error('expected two deliveries');
    const isOther = ({ ReceiptHandle }: { ReceiptHandle?: string }) => ReceiptHandle === other.handle;
    for (const action of ['ChangeMessageVisibilityBatch', 'DeleteMessageBatch'])
      proxy.inject(onAction(action, { kind: 'fail-entries', isChosen: isOther }, 1));
    expect(await Promise.all([transport.extend(one), transport.extend(other)])).toEqual([OK, OK]);
    expect(await Promise.all([transport.ack(one), transport.ack(other)])).toEqual([OK, OK]);
    expect(await engine.counts(queue)).toEqual({ visible: 0, hidden: 0, delayed: 0 });
  });
});

describe('digests', () => {
  it('of sent bodies are checked one by one', async () => {
    const { proxy } = sqs();
    const Successful = [
      { Id: '0', MD5OfMessageBody: md5('0') },
      { Id: '1', MD5OfMessageBody: md5('another') },
      { Id: '2' },
    ];
    proxy.inject(outputs('SendMessageBatch', { Successful }));
    const wrong = { ok: false, problem: 'InvalidChecksum: SQS received another body than was sent' };
    expect(await sendAll(slim(), ['0', '1', '2'])).toEqual([OK, wrong, wrong]);
    expect(proxy.requestsOf('SendMessageBatch')).toHaveLength(1);
  });

  it('are those of the escaped body in UTF-8', async () => {
    expect(await sendAll(slim({ escapesPairs: true }), ['"ä€ 😀 \uffff"'])).toEqual([OK]);
  });

  it('of received bodies are checked', async () => {
    const { proxy, queue } = sqs();
    const message = { MessageId: 'one', ReceiptHandle: 'handle', Body: 'text' };
    proxy.inject(
      outputs(
        'ReceiveMessage',
        { Messages: [{ ...message, MD5OfBody: md5('other') }] },
        { Messages: [{ ...message, MD5OfBody: md5('text') }] },
      ),
    );
    const transport = slim();
    const never = AbortSignal.timeout(60_000);
    expect(await transport.receive(queue, 1, never)).toEqual({
      ok: false,
      problem: `InvalidChecksum: received another body than SQS has, of messages one (queue "${queue}")`,
    });
    expect(await transport.receive(queue, 1, never)).toMatchObject({
      ok: true,
      deliveries: [{ body: 'text' }],
    });
  });
});

describe('flush()', () => {
  it.each([
    ['the slim client', () => slim({ lingerMs: 3_600_000 })],
    ['the AWS SDK', () => sqs().makeTransport({ lingerMs: 3_600_000 })],
  ])('sends what waits at once: with %s', async (_what, make) => {
    const { proxy, queue } = sqs();
    const transport = make();
    const sending = [transport.send(queue, '1'), transport.sendWithDelay(queue, '2', 1_000)];
    transport.flush?.();
    expect(await Promise.all(sending)).toEqual([OK, OK]);
    expect(proxy.requestsOf('SendMessageBatch').map(({ input }) => input.Entries?.length)).toEqual([2]);
    transport.flush?.();
  });
});
