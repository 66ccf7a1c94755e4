import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { rabbitMqAbsence } from '../support/rabbitmq-broker.ts';
import { startTcpProxy, type TcpProxy } from '../support/tcp-proxy.ts';
import { envelopeAt, type Wire } from './envelopes.ts';
import { type RabbitMqStage, setRabbitMqStage } from './rabbitmq-stage.ts';
import { isAlive, type LogLine, pause, type RunningProcess, saying, until } from './sidecar-process.ts';

/** What networks and brokers do to two sidecars in a row, while work goes on: nothing is lost, nobody is restarted. */

const absence = rabbitMqAbsence();
if (absence !== undefined) console.log(`outages of RabbitMQ: left out, because ${absence}`);

const COUNT = 300;
const BETWEEN_SENDS_MS = 20;
const PATIENCE_MS = 150_000;
const ROUTE = { prev: [], curr: 'first', next: ['second'] };

describe.skipIf(absence !== undefined)('outages of RabbitMQ', { timeout: 300_000 }, () => {
  let stage: RabbitMqStage;
  let proxy: TcpProxy;
  let sidecars: readonly RunningProcess[];

  beforeAll(async () => {
    stage = await setRabbitMqStage('x-sink');
    proxy = await startTcpProxy(stage.broker.port);
    sidecars = await Promise.all(
      ['first', 'second'].map((actor) =>
        stage.sidecar(actor, {
          // A silent connection is given up after 10 to 15 s; with the 10 that nobody has to ask for, after 20 to 30.
          ASYA_RABBITMQ_URL: `amqp://guest:guest@127.0.0.1:${proxy.port}/?heartbeat=5`,
          ASYA_RUNTIME_COMMAND: `${process.execPath} ${join(import.meta.dirname, 'echo-runtime.ts')}`,
          ASYA_CONCURRENCY: '4',
          ASYA_RABBITMQ_PREFETCH: '8',
        }),
      ),
    );
  }, 240_000);
  afterAll(async () => {
    await stage?.close();
    await proxy?.close();
  }, 60_000);

  /**
   * Sends them one after the other, while something happens in the middle of it and tells when it was over; then all
   * have to arrive.
   */
  async function work(what: string, happens: () => Promise<number>): Promise<void> {
    const envelopes = Array.from({ length: COUNT }, (_, n) => envelopeAt('first', { n }, { route: ROUTE }));
    let happening: Promise<number> | undefined;
    for (const [n, envelope] of envelopes.entries()) {
      if (n === COUNT / 3) happening = happens();
      await sendSurely(envelope);
      await pause(BETWEEN_SENDS_MS);
    }
    const restoredAt = (await happening) ?? 0;
    const arrivals = await arrivalsOf(envelopes);
    const recoveredMs = Math.max(
      ...sidecars.map((sidecar) => firstAckAfter(sidecar, restoredAt) - restoredAt),
    );
    console.log(
      `${what}: ${COUNT} envelopes through two actors, ${arrivals.unique} arrived, ` +
        `${arrivals.all - arrivals.unique} twice, at work again ${(recoveredMs / 1000).toFixed(1)} s after the end of it`,
    );
    expect(arrivals.unique).toBe(COUNT);
    for (const { pid } of sidecars) expect(isAlive(pid)).toBe(true);
    for (const queue of ['first', 'second', 'first-dlq', 'second-dlq']) {
      await until(async () => (await stage.desk.depth(queue)) === 0, `${queue} is empty`, PATIENCE_MS);
    }
  }

  /** The test's own sends are no part of it: what the broker has not confirmed is sent again. */
  async function sendSurely(envelope: Wire): Promise<void> {
    const isSent = () =>
      stage.send(envelope).then(
        () => true,
        () => false,
      );
    await until(isSent, 'the broker takes an envelope', PATIENCE_MS);
  }

  async function arrivalsOf(sent: readonly Wire[]): Promise<{ unique: number; all: number }> {
    const wanted = new Set(sent.map(({ id }) => id));
    const seen = new Set<string>();
    let all = 0;
    const look = async () => {
      for (const body of await stage.desk.take('x-sink')) {
        const { id } = JSON.parse(body) as Wire;
        if (!wanted.has(id)) continue;
        seen.add(id);
        all++;
      }
      return seen.size === wanted.size;
    };
    const words = () =>
      `${seen.size} of ${wanted.size} arrived\n${sidecars.map((one) => one.output().slice(-3_000)).join('\n')}`;
    await until(look, words, PATIENCE_MS);
    await pause(1_000);
    await look();
    return { unique: seen.size, all };
  }

  test('the broker is killed and started again with its data', async () => {
    await work('broker killed and restarted', async () => {
      await stage.broker.kill();
      await stage.broker.start();
      return Date.now();
    });
  });

  test('every connection is reset, three times', async () => {
    await work('connections reset three times', async () => {
      proxy.reset();
      await pause(2_000);
      proxy.reset();
      await pause(2_000);
      proxy.reset();
      return Date.now();
    });
  });

  test('the broker cannot be reached for a while', async () => {
    await work('broker out of reach for 5 s', async () => {
      proxy.refuse();
      proxy.reset();
      await pause(5_000);
      proxy.resume();
      return Date.now();
    });
  });

  test('the network falls silent: both ends think that they are connected', async () => {
    await work('connections half open', async () => {
      const silentAt = Date.now();
      proxy.freeze();
      await Promise.all(
        sidecars.map((sidecar) => sidecar.untilLine(isAfter(silentAt, saying('receiving failed')), 120_000)),
      );
      console.log(
        `connections half open: noticed by both sidecars after ${(Date.now() - silentAt) / 1000} s, with a heartbeat of 5 s`,
      );
      await pause(2_000);
      proxy.resume();
      return Date.now();
    });
  });

  test('a queue is deleted and made again: what was to be sent there waits', async () => {
    const [first, second] = sidecars as readonly [RunningProcess, RunningProcess];
    const deletedAt = Date.now();
    await stage.desk.deleteQueue('second');
    await second.untilLine(isAfter(deletedAt, saying('receiving failed')), 60_000);
    const envelopes = Array.from({ length: 20 }, (_, n) => envelopeAt('first', { n }, { route: ROUTE }));
    for (const envelope of envelopes) await sendSurely(envelope);
    await first.untilLine(
      isAfter(deletedAt, (line) => line['settle'] === 'release'),
      60_000,
    );
    await stage.desk.createQueue('second');
    const madeAt = Date.now();
    const arrivals = await arrivalsOf(envelopes);
    console.log(
      `queue deleted and made again: ${envelopes.length} envelopes sent meanwhile, ${arrivals.unique} arrived, ` +
        `${arrivals.all - arrivals.unique} twice, the last ${((Date.now() - madeAt) / 1000).toFixed(1)} s after it was back`,
    );
    expect(arrivals.unique).toBe(envelopes.length);
    for (const { pid } of sidecars) expect(isAlive(pid)).toBe(true);
    expect(await stage.desk.depth('first-dlq')).toBe(0);
  });
});

function timeOf(line: LogLine): number {
  return Date.parse(String(line['time']));
}

function isAfter(ms: number, isIt: (line: LogLine) => boolean): (line: LogLine) => boolean {
  return (line) => timeOf(line) >= ms && isIt(line);
}

function firstAckAfter({ lines }: RunningProcess, ms: number): number {
  const line = lines.find(isAfter(ms, (one) => one['message'] === 'delivery' && one['settle'] === 'ack'));
  return line === undefined ? Number.NaN : timeOf(line);
}
