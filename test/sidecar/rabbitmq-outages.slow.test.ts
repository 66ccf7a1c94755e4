import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { isAlive } from '../support/pids.ts';
import { rabbitMqAbsence } from '../support/rabbitmq-broker.ts';
import { startTcpProxy, type TcpProxy } from '../support/tcp-proxy.ts';
import { envelopeAt, type Wire } from './envelopes.ts';
import { type RabbitMqStage, setRabbitMqStage } from './rabbitmq-stage.ts';
import {
  type LogLine,
  pause,
  pythonRuntime,
  type RunningProcess,
  saying,
  until,
  type Variables,
} from './sidecar-process.ts';

/** Outages of the network and the broker while two sidecars work: nothing is lost, and no sidecar restarts. */

const absence = rabbitMqAbsence();
if (absence !== undefined) console.log(`outages of RabbitMQ: skipped, because ${absence}`);

const COUNT = 300;
/** How many envelopes pass both actors before the outage. */
const FIRST = 50;
const TIMEOUT_MS = 150_000;

interface Pair {
  readonly actors: readonly [string, string];
  readonly sidecars: readonly RunningProcess[];
}

describe.skipIf(absence !== undefined)('outages of RabbitMQ', { timeout: 300_000 }, () => {
  let stage: RabbitMqStage;
  let proxy: TcpProxy;
  let pair: Pair;
  /** How often each envelope arrived at x-sink. */
  const arrived = new Map<string, number>();

  beforeAll(async () => {
    stage = await setRabbitMqStage('x-sink');
    proxy = await startTcpProxy(stage.broker.port);
    pair = await startPair(['first', 'second'], {
      // With this heartbeat a dead connection is closed after 10 to 15 s; with the default of 10 s, after 20 to 30 s.
      ASYA_RABBITMQ_URL: `amqp://guest:guest@127.0.0.1:${proxy.port}/?heartbeat=5`,
    });
  }, 240_000);
  afterAll(async () => {
    await stage?.close();
    await proxy?.close();
  }, 60_000);

  async function startPair(actors: Pair['actors'], more: Variables = {}): Promise<Pair> {
    const variables = {
      ASYA_RUNTIME_COMMAND: pythonRuntime('behaviours.handle'),
      ASYA_CONCURRENCY: '4',
      ASYA_RABBITMQ_PREFETCH: '8',
      ...more,
    };
    return { actors, sidecars: await Promise.all(actors.map((actor) => stage.sidecar(actor, variables))) };
  }

  async function send({ actors: [curr, next] }: Pair, count: number): Promise<readonly Wire[]> {
    // Wrapped twice: the first actor returns the payload for the second one.
    const payload = { do: 'sleep', seconds: 0.05, value: { do: 'sleep', seconds: 0.05, value: 'done' } };
    const route = { prev: [], curr, next: [next] };
    const envelopes = Array.from({ length: count }, () => envelopeAt(curr, payload, { route }));
    await stage.admin.send(curr, ...envelopes.map((envelope) => JSON.stringify(envelope)));
    return envelopes;
  }

  async function arrivalsOf(sent: readonly Wire[]): Promise<{ unique: number; all: number }> {
    for (const body of await stage.admin.take('x-sink')) {
      const { id, status } = JSON.parse(body) as Wire;
      expect(status).toMatchObject({ phase: 'succeeded' });
      arrived.set(id, (arrived.get(id) ?? 0) + 1);
    }
    const times = sent.map(({ id }) => arrived.get(id) ?? 0);
    return {
      unique: times.filter((count) => count > 0).length,
      all: times.reduce((one, two) => one + two, 0),
    };
  }

  /** Waits until all have arrived and every queue is empty. Duplicates have arrived by then too. */
  async function expectAll(
    sent: readonly Wire[],
    { actors, sidecars }: Pair,
  ): Promise<{ unique: number; all: number }> {
    let unique = 0;
    await until(
      async () => {
        ({ unique } = await arrivalsOf(sent));
        return unique === sent.length;
      },
      () =>
        `${unique} of ${sent.length} arrived\n${sidecars.map((one) => one.output().slice(-3_000)).join('\n')}`,
      TIMEOUT_MS,
    );
    for (const queue of actors) {
      await until(async () => (await stage.admin.depth(queue)) === 0, `${queue} is empty`, TIMEOUT_MS);
      expect(await stage.admin.depth(`${queue}-dlq`)).toBe(0);
    }
    for (const { pid } of sidecars) expect(isAlive(pid)).toBe(true);
    return arrivalsOf(sent);
  }

  /** Runs an outage while the sidecars process envelopes. Returns when it ended. */
  async function runOutage(what: string, cause: () => Promise<number>): Promise<void> {
    const [, second] = pair.sidecars as readonly [RunningProcess, RunningProcess];
    const before = acksOf(second);
    const sent = await send(pair, COUNT);
    await until(() => acksOf(second) - before >= FIRST, 'the first envelopes have arrived', TIMEOUT_MS);
    const inFlight = COUNT - (acksOf(second) - before);
    expect(inFlight).toBeGreaterThan(0);
    const restoredAt = await cause();
    const { unique, all } = await expectAll(sent, pair);
    const recoveredMs = Math.max(
      ...pair.sidecars.map((sidecar) => firstAckAfter(sidecar, restoredAt) - restoredAt),
    );
    console.log(
      `${what}: ${COUNT} envelopes through two actors, ${inFlight} of them in flight, ${unique} arrived, ` +
        `${all - unique} twice, recovered ${(recoveredMs / 1000).toFixed(1)} s after its end`,
    );
  }

  test('the broker is killed and restarted with its data', async () => {
    await runOutage('broker killed and restarted', async () => {
      await stage.broker.kill();
      await stage.broker.start();
      return Date.now();
    });
  });

  test('every connection is reset, three times', async () => {
    await runOutage('connections reset three times', async () => {
      proxy.reset();
      await pause(1_500);
      proxy.reset();
      await pause(1_500);
      proxy.reset();
      return Date.now();
    });
  });

  test('the broker is unreachable for a while', async () => {
    await runOutage('broker unreachable for 3 s', async () => {
      proxy.refuse();
      proxy.reset();
      await pause(3_000);
      proxy.resume();
      return Date.now();
    });
  });

  // Both mostly wait, so they run concurrently with separate sidecars.
  describe.concurrent('concurrently', () => {
    test('packets are lost while both ends believe that they are connected', async () => {
      await runOutage('connections half open', async () => {
        const silentAt = Date.now();
        proxy.freeze();
        await Promise.all(
          pair.sidecars.map((sidecar) =>
            sidecar.untilLine(isAfter(silentAt, saying('receiving failed')), TIMEOUT_MS),
          ),
        );
        console.log(
          `connections half open: noticed by both sidecars after ${(Date.now() - silentAt) / 1000} s, with a heartbeat of 5 s`,
        );
        await pause(2_000);
        proxy.resume();
        return Date.now();
      });
    });

    test('a queue is deleted and created again: its envelopes wait', async ({ expect }) => {
      const other = await startPair(['third', 'fourth']);
      const [third, fourth] = other.sidecars as readonly [RunningProcess, RunningProcess];
      const deletedAt = Date.now();
      await stage.admin.deleteQueue('fourth');
      await fourth.untilLine(isAfter(deletedAt, saying('receiving failed')), TIMEOUT_MS);
      const sent = await send(other, 20);
      await third.untilLine(
        isAfter(deletedAt, (line) => line['settle'] === 'release'),
        TIMEOUT_MS,
      );
      expect((await arrivalsOf(sent)).unique).toBe(0);
      await stage.admin.createQueue('fourth');
      const createdAt = Date.now();
      const { unique, all } = await expectAll(sent, other);
      console.log(
        `queue deleted and created again: ${sent.length} envelopes sent meanwhile, ${unique} arrived, ` +
          `${all - unique} twice, the last ${((Date.now() - createdAt) / 1000).toFixed(1)} s after it was back`,
      );
    });
  });
});

function timeOf(line: LogLine): number {
  return Date.parse(String(line['time']));
}

function isAfter(ms: number, matches: (line: LogLine) => boolean): (line: LogLine) => boolean {
  return (line) => timeOf(line) >= ms && matches(line);
}

function isAck(line: LogLine): boolean {
  return line['message'] === 'delivery' && line['settle'] === 'ack';
}

function acksOf({ lines }: RunningProcess): number {
  return lines.filter(isAck).length;
}

function firstAckAfter({ lines }: RunningProcess, ms: number): number {
  const line = lines.find(isAfter(ms, isAck));
  return line === undefined ? Number.NaN : timeOf(line);
}
