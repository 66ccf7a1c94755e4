import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type EmbeddedSqs, sqsAt } from '../support/embedded-sqs.ts';
import { isAlive } from '../support/pids.ts';
import { startTcpProxy, type TcpProxy } from '../support/tcp-proxy.ts';
import { sqsBroker } from './brokers/sqs-broker.ts';
import { envelopeAt } from './envelopes.ts';
import { freePort } from './free-port.ts';
import {
  pause,
  pythonRuntime,
  type RunningProcess,
  saying,
  startProcess,
  temporaryFolder,
  until,
} from './sidecar-process.ts';
import { type BrokerStage, setStageOn } from './stage.ts';

/** Outages of SQS while sidecars work: nothing is lost, and the sidecars recover without a restart. */

const COUNT = 300;
const OUTAGE_MS = 3_000;
/** How many envelopes pass both actors before the outage. */
const FIRST = 50;
/** A poll on a dead connection is aborted after 35 s, and its deliveries are redelivered later. */
const TIMEOUT_MS = 240_000;
/** How many sends run at the same time. */
const CONCURRENCY = 10;
const ACTORS = ['first', 'second'] as const;

let sqs: EmbeddedSqs;
let proxy: TcpProxy;
let stage: BrokerStage;
let engine: RunningProcess;
let sidecars: readonly RunningProcess[];
let dataDir: string;

async function startEngine(port: string): Promise<string> {
  const program = join(import.meta.dirname, 'hold-sqs.ts');
  engine = startProcess([program, dataDir, port], {});
  const { sqsEndpoint } = await engine.untilLine(saying('started'), 60_000);
  return String(sqsEndpoint);
}

beforeAll(async () => {
  dataDir = await temporaryFolder();
  // No other process may take the port while the engine is down.
  sqs = sqsAt(await startEngine(String(await freePort())));
  proxy = await startTcpProxy(Number(new URL(sqs.endpoint).port));
  const broker = sqsBroker(sqs);
  const variables = { ...broker.variables, ASYA_SQS_ENDPOINT: `http://127.0.0.1:${proxy.port}` };
  stage = await setStageOn({ ...broker, variables }, ['x-sink']);
  sidecars = await Promise.all(
    ACTORS.map((actor) =>
      stage.sidecar(actor, {
        ASYA_RUNTIME_COMMAND: pythonRuntime('behaviours.handle'),
        ASYA_CONCURRENCY: '5',
        ASYA_RESILIENCY_ACTOR_TIMEOUT: '5s',
      }),
    ),
  );
}, 120_000);

afterAll(async () => {
  await stage?.close();
  await proxy?.close();
}, 60_000);

interface Outage {
  readonly name: string;
  begin(): void | Promise<void>;
  end(): void | Promise<void>;
}

const OUTAGES: readonly Outage[] = [
  {
    name: 'the engine is killed, and started again with its data',
    begin: async () => {
      engine.signal('SIGKILL');
      await engine.exited;
    },
    end: async () => {
      await startEngine(new URL(sqs.endpoint).port);
    },
  },
  {
    name: 'connections are reset, and refused for a while',
    begin: () => {
      proxy.refuse();
      proxy.reset();
    },
    end: () => proxy.resume(),
  },
  {
    name: 'connections are half open',
    begin: () => proxy.freeze(),
    end: () => proxy.resume(),
  },
];

test.each(OUTAGES)('$name', { timeout: TIMEOUT_MS + 60_000 }, async ({ name, begin, end }) => {
  const route = { prev: [], curr: ACTORS[0], next: [ACTORS[1]] };
  // Wrapped twice: the first actor returns the payload for the second one.
  const payload = { do: 'sleep', seconds: 0.05, value: { do: 'sleep', seconds: 0.05, value: 'done' } };
  const envelopes = Array.from({ length: COUNT }, () => envelopeAt(ACTORS[0], payload, { route }));
  const sent = new Set(envelopes.map(({ id }) => id));
  const [, second] = sidecars as readonly [RunningProcess, RunningProcess];
  const acksBefore = acksOf(second);
  for (let n = 0; n < COUNT; n += CONCURRENCY) {
    const some = envelopes.slice(n, n + CONCURRENCY);
    await Promise.all(some.map((envelope) => sqs.send(ACTORS[0], JSON.stringify(envelope))));
  }
  const counts = new Map<string, number>();
  let lastSentAt = 0;
  const takeSome = async () => {
    // Everything: the next test would find what remains and does not expect it.
    for (let some = await sqs.take('x-sink'); some.length > 0; some = await sqs.take('x-sink')) {
      for (const { Body = '' } of some) {
        const { id, status } = JSON.parse(Body) as { id: string; status: Record<string, string> };
        expect({ id: sent.has(id), phase: status['phase'] }).toEqual({ id: true, phase: 'succeeded' });
        counts.set(id, (counts.get(id) ?? 0) + 1);
        lastSentAt = Math.max(lastSentAt, Date.parse(status['updated_at'] ?? ''));
      }
    }
    return counts.size;
  };
  await until(() => acksOf(second) - acksBefore >= FIRST, 'the first envelopes have arrived', 60_000);
  const inFlight = COUNT - (acksOf(second) - acksBefore);
  expect(inFlight).toBeGreaterThan(0);
  await begin();
  await pause(OUTAGE_MS);
  await end();
  const endedAt = Date.now();
  // Only lines after the outage count.
  await until(
    async () => (await takeSome()) > 0 && lastSentAt > endedAt,
    'envelopes arrive again',
    TIMEOUT_MS,
  );
  const backMs = lastSentAt - endedAt;
  await until(
    async () => (await takeSome()) === COUNT,
    () =>
      `${counts.size} of ${COUNT} have arrived; ${sidecars.map((one) => one.output().slice(-500)).join('\n')}`,
    TIMEOUT_MS,
  );
  const allMs = Date.now() - endedAt;

  for (const actor of ACTORS) {
    await until(
      async () => {
        await takeSome();
        const { visible, hidden, delayed } = await sqs.counts(actor);
        return visible + hidden + delayed === 0;
      },
      `${actor}'s queue is empty`,
      TIMEOUT_MS,
    );
    expect((await sqs.counts(`${actor}-dlq`)).visible).toBe(0);
  }
  await takeSome();
  const repeated = [...counts.values()].filter((times) => times > 1).length;
  console.log(
    `${name} for ${OUTAGE_MS} ms with ${inFlight} of ${COUNT} in flight: back ${backMs} ms after its end, ` +
      `all arrived after ${allMs} ms, ${repeated} of them more than once, 0 lost`,
  );
  expect(sidecars.map(({ pid }) => isAlive(pid))).toEqual([true, true]);
});

function acksOf({ lines }: RunningProcess): number {
  return lines.filter((line) => line['message'] === 'delivery' && line['settle'] === 'ack').length;
}
