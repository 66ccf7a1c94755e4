import { existsSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { rabbitMqTransport } from '../../lib/adapters/rabbitmq/rabbitmq-transport.ts';
import { OK, receiveOne } from '../contract/law.ts';
import { startEmbeddedStores } from '../support/embedded-stores.ts';
import { rabbitMqAbsence } from '../support/rabbitmq-broker.ts';
import { envelopeAt, type Wire } from './envelopes.ts';
import { type RabbitMqStage, setRabbitMqStage } from './rabbitmq-stage.ts';
import { pythonRuntime, saying, startShell, startSidecar, until, untilWorking } from './sidecar-process.ts';

/** What is specific to RabbitMQ. The cases in `cases/` cover the outcomes of deliveries. */

const absence = rabbitMqAbsence();
if (absence !== undefined) console.log(`sidecars on RabbitMQ: skipped, because ${absence}`);

const HANDLER = pythonRuntime('behaviours.handle');

describe.skipIf(absence !== undefined)('a sidecar on RabbitMQ', { timeout: 120_000 }, () => {
  let stage: RabbitMqStage;
  beforeAll(async () => {
    stage = await setRabbitMqStage('x-sink');
    await Promise.all(
      ['first', 'second'].map((actor) => stage.sidecar(actor, { ASYA_RUNTIME_COMMAND: HANDLER })),
    );
  }, 240_000);
  afterAll(() => stage?.close(), 60_000);

  async function endOf(envelope: Wire): Promise<Wire> {
    await stage.send(envelope);
    return stage.arrival('x-sink', envelope.id);
  }

  test('needs only a name and a URL: the URL implies the transport', async () => {
    await stage.admin.createQueue('quick');
    // Both have defaults that may be in use on this machine.
    const socket = `${stage.folder}/quick.sock`;
    const isolation = { ASYA_SOCKET_PATH: socket, ASYA_METRICS_ADDR: '' };
    startShell(HANDLER, { ASYA_RUNTIME_URL: `unix:${socket}` });
    await until(() => existsSync(socket), 'the runtime listens', 60_000);
    const sidecar = startSidecar({
      ASYA_ACTOR_NAME: 'quick',
      ASYA_RABBITMQ_URL: stage.broker.url,
      ...isolation,
    });
    await untilWorking(sidecar);
    const end = await endOf(envelopeAt('quick', { value: { answer: 42 } }));
    expect(end).toMatchObject({
      payload: { answer: 42 },
      status: { phase: 'succeeded', reason: 'Completed' },
    });
    expect(sidecar.lines.find(saying('receiving deliveries'))).toMatchObject({
      transport: 'rabbitmq',
      queue: 'quick',
    });
    sidecar.signal('SIGTERM');
    expect(await sidecar.untilExit(60_000)).toMatchObject({ code: 0 });
    expect(sidecar.output()).not.toContain('guest');
  });

  test('sends an envelope from actor to actor', async () => {
    const route = { prev: [], curr: 'first', next: ['second'] };
    const end = await endOf(envelopeAt('first', { value: { value: 'through both' } }, { route }));
    expect(end).toMatchObject({
      payload: 'through both',
      route: { prev: ['first', 'second'], curr: '', next: [] },
    });
  });

  test('creates queues with ASYA_QUEUE_AUTO_CREATE', async () => {
    const sidecar = startSidecar(
      stage.variables('maker', { ASYA_RUNTIME_COMMAND: HANDLER, ASYA_QUEUE_AUTO_CREATE: 'true' }),
    );
    await untilWorking(sidecar);
    await until(async () => (await stage.admin.depth('maker')) !== undefined, 'the queue exists', 60_000);
    expect(await stage.admin.depth('maker-dlq')).toBe(0);
    expect((await endOf(envelopeAt('maker', { value: 1 }))).payload).toBe(1);
  });

  test('waits for a missing queue without ASYA_QUEUE_AUTO_CREATE', async () => {
    const sidecar = startSidecar(stage.variables('patient', { ASYA_RUNTIME_COMMAND: HANDLER }));
    await sidecar.untilLine(saying('receiving failed'), 60_000);
    await stage.admin.createQueue('patient');
    expect((await endOf(envelopeAt('patient', { value: 'found' }))).payload).toBe('found');
  });

  test('x-dlq archives a message that was delivered too often', async () => {
    const stores = await startEmbeddedStores();
    const { ASYA_SQS_ENDPOINT: _sqs, ...storage } = stores.variables;
    const { ASYA_RUNTIME_URL: _none, ...variables } = stage.variables('x-dlq', {
      ...storage,
      ASYA_DEAD_LETTERS_OF: 'doomed',
      ASYA_QUEUE_AUTO_CREATE: 'true',
    });
    const transport = rabbitMqTransport({
      ...{ url: stage.broker.url, exchange: 'asya', prefetch: 1, delay: 'none', name: 'test' },
    });
    try {
      await untilWorking(startSidecar(variables));
      const sent = envelopeAt('doomed', { value: 'never done' });
      const exists = async () => (await stage.admin.depth('doomed')) !== undefined;
      await until(exists, 'the queue exists', 60_000);
      await stage.send(sent);
      for (let count = 1; count <= 5; count++)
        expect(await transport.nack(await receiveOne(transport, 'doomed'), 0)).toEqual(OK);
      const isOurs = (key: string) => key.startsWith('dlq/') && key.endsWith(`/doomed/${sent.id}.json`);
      const archived = async () => (await stores.keys()).find(isOurs);
      await until(async () => (await archived()) !== undefined, 'x-dlq has archived it', 60_000);
      expect(JSON.parse(await stores.object((await archived()) ?? ''))).toMatchObject({
        id: sent.id,
        payload: sent.payload,
        status: { phase: 'failed', reason: 'DeliveryExhausted' },
      });
      await until(
        async () => (await stage.admin.depth('doomed-dlq')) === 0,
        'x-dlq has acknowledged it',
        60_000,
      );
    } finally {
      await transport.close();
      await stores.close();
    }
  });

  test('warns if a call may exceed the consumer timeout, and names the setting', async () => {
    const variables = { ASYA_RUNTIME_COMMAND: HANDLER, ASYA_RESILIENCY_ACTOR_TIMEOUT: '40m' };
    const sidecar = await stage.sidecar('lengthy', variables);
    const warning = sidecar.lines.find(({ message }) => String(message).includes('consumer_timeout'));
    expect(warning).toMatchObject({ level: 'warn', message: expect.stringContaining('rabbitmq.conf') });
    const quiet = await stage.sidecar('brief', {
      ...variables,
      ASYA_RESILIENCY_ACTOR_TIMEOUT: '30m',
    });
    expect(quiet.output()).not.toContain('consumer_timeout');
  });
});
