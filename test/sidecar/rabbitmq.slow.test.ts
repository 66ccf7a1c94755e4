import { randomUUID } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { rabbitMqAbsence } from '../support/rabbitmq-broker.ts';
import { envelopeAt, type Wire } from './envelopes.ts';
import { type RabbitMqStage, setRabbitMqStage } from './rabbitmq-stage.ts';
import { pythonRuntime, saying, startShell, startSidecar, until, untilWorking } from './sidecar-process.ts';

const absence = rabbitMqAbsence();
if (absence !== undefined) console.log(`sidecars on RabbitMQ: left out, because ${absence}`);

const HANDLER = pythonRuntime('behaviours.handle');
const RESILIENCY = {
  ASYA_RESILIENCY_POLICIES: JSON.stringify({
    patient: { maxAttempts: 3, backoff: 'constant', initialDelay: '1200ms' },
    routed: { onExhausted: ['mend', 'tell'] },
  }),
  ASYA_RESILIENCY_RULES: JSON.stringify([
    { errors: ['ValueError'], policy: 'patient' },
    { errors: ['TypeError'], policy: 'noRetry' },
    { errors: ['KeyError'], policy: 'routed' },
  ]),
};

describe.skipIf(absence !== undefined)('a sidecar on RabbitMQ', { timeout: 120_000 }, () => {
  let stage: RabbitMqStage;
  beforeAll(async () => {
    stage = await setRabbitMqStage('x-sink', 'mend');
    await Promise.all([
      stage.sidecar('plain', { ...RESILIENCY, ASYA_RUNTIME_COMMAND: HANDLER }),
      stage.sidecar('waiting', {
        ...RESILIENCY,
        ASYA_RUNTIME_COMMAND: HANDLER,
        ASYA_RABBITMQ_DELAY: 'ttl',
      }),
    ]);
  }, 240_000);
  afterAll(() => stage?.close(), 60_000);

  async function endOf(envelope: Wire, queue = 'x-sink'): Promise<Wire> {
    await stage.send(envelope);
    return stage.arrival(queue, envelope.id);
  }

  const counterFile = () => `${stage.folder}/${randomUUID()}`;
  const callsOf = (counter: string) => readFileSync(counter, 'utf8').length;

  test('with a name and a URL alone it works: the transport goes without saying', async () => {
    await stage.desk.createQueue('quick');
    // Both have defaults, which this machine may use for something else.
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
    expect(sidecar.lines.find(saying('working'))).toMatchObject({ transport: 'rabbitmq', queue: 'quick' });
    sidecar.signal('SIGTERM');
    expect(await sidecar.untilExit(60_000)).toMatchObject({ code: 0 });
    expect(sidecar.output()).not.toContain('guest');
  });

  test('it goes from actor to actor', async () => {
    const route = { prev: [], curr: 'plain', next: ['waiting'] };
    const end = await endOf(envelopeAt('plain', { value: { value: 'through both' } }, { route }));
    expect(end).toMatchObject({
      payload: 'through both',
      route: { prev: ['plain', 'waiting'], curr: '', next: [] },
    });
  });

  test('queues are made where it is told to', async () => {
    const sidecar = startSidecar(
      stage.variables('maker', { ASYA_RUNTIME_COMMAND: HANDLER, ASYA_QUEUE_AUTO_CREATE: 'true' }),
    );
    await untilWorking(sidecar);
    await until(async () => (await stage.desk.depth('maker')) !== undefined, 'the queue is there', 60_000);
    expect(await stage.desk.depth('maker-dlq')).toBe(0);
    expect((await endOf(envelopeAt('maker', { value: 1 }))).payload).toBe(1);
  });

  test('where it is not told to, a missing queue is waited for', async () => {
    const sidecar = startSidecar(stage.variables('patient', { ASYA_RUNTIME_COMMAND: HANDLER }));
    await sidecar.untilLine(saying('receiving failed'), 60_000);
    await stage.desk.createQueue('patient');
    expect((await endOf(envelopeAt('patient', { value: 'found' }))).payload).toBe('found');
  });

  test('without delays the first retry ends at x-sink as RuntimeError', async () => {
    const counter = counterFile();
    const payload = { do: 'raise', error: 'ValueError', counter, times: 9 };
    const end = await endOf(envelopeAt('plain', payload));
    expect(end).toMatchObject({
      payload,
      status: { phase: 'failed', reason: 'RuntimeError', attempt: 1, error: { message: 'as told' } },
    });
    expect(callsOf(counter)).toBe(1);
  });

  test.each(['plain', 'waiting'])('noRetry works (%s)', async (actor) => {
    const end = await endOf(envelopeAt(actor, { do: 'raise', error: 'TypeError' }));
    expect(end.status).toMatchObject({ phase: 'failed', reason: 'NonRetryableFailure', max_attempts: 1 });
  });

  test.each(['plain', 'waiting'])('onExhausted works (%s)', async (actor) => {
    const end = await endOf(envelopeAt(actor, { do: 'raise', error: 'KeyError' }), 'mend');
    expect(end).toMatchObject({
      route: { prev: [actor], curr: 'mend', next: ['tell'] },
      status: { phase: 'failed', reason: 'PolicyRouted' },
    });
  });

  test('with ttl a retry comes after its delay, and the one that succeeds goes on', async () => {
    const counter = counterFile();
    const sentAt = Date.now();
    const payload = { do: 'raise', error: 'ValueError', counter, times: 2, value: 'at last' };
    const end = await endOf(envelopeAt('waiting', payload));
    expect(Date.now() - sentAt).toBeGreaterThanOrEqual(2_400);
    expect(callsOf(counter)).toBe(3);
    expect(end).toMatchObject({
      payload: 'at last',
      status: { phase: 'succeeded', reason: 'Completed', attempt: 3 },
    });
  });

  test('with ttl it ends as exhausted when no attempt is left', async () => {
    const counter = counterFile();
    const payload = { do: 'raise', error: 'ValueError', counter, times: 9 };
    const end = await endOf(envelopeAt('waiting', payload));
    expect(callsOf(counter)).toBe(3);
    expect(end).toMatchObject({
      payload,
      status: { reason: 'PolicyExhausted', attempt: 3, max_attempts: 3 },
    });
  });

  test('a call that the broker would not wait for is warned of, with the setting to change', async () => {
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
