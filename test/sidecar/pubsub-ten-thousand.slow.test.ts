import { afterAll, expect, test } from 'vitest';
import { PUBSUB_ABSENCE } from '../support/pubsub.ts';
import { ACTORS, COUNT, startEchoes, TIMEOUT_MS } from './echoes.ts';
import { envelopeAt, TRACEPARENT, type Wire } from './envelopes.ts';
import { scrape } from './prometheus-text.ts';
import { type PubsubStage, setPubsubStage } from './pubsub-stage.ts';
import { pause } from './sidecar-process.ts';

if (PUBSUB_ABSENCE !== undefined) console.log(`ten thousand on Pub/Sub: skipped, because ${PUBSUB_ABSENCE}`);

let stage: PubsubStage | undefined;
afterAll(() => stage?.close());

async function sendAll({ client }: PubsubStage, envelopes: readonly Wire[]): Promise<void> {
  const topic = client.publisher.topic('first', { batching: { maxMessages: 500, maxMilliseconds: 5 } });
  await Promise.all(
    envelopes.map((envelope) => topic.publishMessage({ data: Buffer.from(JSON.stringify(envelope)) })),
  );
}

/** Counted by id, because Pub/Sub delivers at least once. */
async function takeAll({ take }: PubsubStage): Promise<ReadonlyMap<string, Wire>> {
  const taken = new Map<string, Wire>();
  let logged = 0;
  for (const endsAt = Date.now() + TIMEOUT_MS; taken.size < COUNT; ) {
    const some = (await take('x-sink')).map((text) => JSON.parse(text) as Wire);
    for (const envelope of some) taken.set(envelope.id, envelope);
    if (taken.size - logged >= 1_000) {
      logged = taken.size;
      console.log(`${logged} of ${COUNT} at x-sink`);
    }
    if (Date.now() > endsAt) throw new Error(`${taken.size} of ${COUNT} within ${TIMEOUT_MS} ms`);
    if (some.length < 100) await pause(50);
  }
  return taken;
}

test.skipIf(PUBSUB_ABSENCE !== undefined)(
  `${COUNT} envelopes through three actors on Pub/Sub: each arrives`,
  async () => {
    stage = await setPubsubStage('x-sink', ...ACTORS);
    const ports = await startEchoes(stage);
    const route = { prev: [], curr: 'first', next: ['second', 'third'] };
    const envelopes = Array.from({ length: COUNT }, (_, n) => envelopeAt('first', { n }, { route }));
    const startedAt = performance.now();
    const [arrived] = await Promise.all([takeAll(stage), sendAll(stage, envelopes)]);
    const seconds = (performance.now() - startedAt) / 1000;
    console.log(
      `${COUNT} envelopes through ${ACTORS.length} actors on Pub/Sub in ${seconds.toFixed(1)} s: ` +
        `${Math.round(COUNT / seconds)} envelopes/s, ${Math.round((COUNT * ACTORS.length) / seconds)} hops/s`,
    );

    for (const { id, payload } of envelopes) {
      const envelope = arrived.get(id);
      if (envelope?.headers['traceparent'] !== TRACEPARENT) throw new Error(`${id} lost its trace`);
      expect({ route: envelope.route, payload: envelope.payload, phase: envelope.status?.phase }).toEqual({
        route: { prev: [...ACTORS], curr: '', next: [] },
        payload,
        phase: 'succeeded',
      });
    }
    for (const [index, actor] of ACTORS.entries()) {
      expect(await stage.take(`${actor}-dlq`)).toEqual([]);
      const series = await scrape(ports[index] ?? 0);
      const received = series.get(`asya_actor_messages_received_total{queue="${actor}",transport="pubsub"}`);
      expect(received).toBeGreaterThanOrEqual(COUNT);
      console.log(`${actor}: ${received} deliveries`);
      const failed = [...series].filter(
        ([name, value]) => name.startsWith('asya_actor_messages_failed_total{') && value > 0,
      );
      expect(failed).toEqual([]);
    }
  },
  TIMEOUT_MS + 120_000,
);
