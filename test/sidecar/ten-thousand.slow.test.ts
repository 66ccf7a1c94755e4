import { SendMessageBatchCommand } from '@aws-sdk/client-sqs';
import { afterAll, expect, test } from 'vitest';
import { ACTORS, COUNT, startEchoes, TIMEOUT_MS } from './echoes.ts';
import { envelopeAt, TRACEPARENT, type Wire } from './envelopes.ts';
import { scrape } from './prometheus-text.ts';
import { until } from './sidecar-process.ts';
import { type Stage, setStage } from './stage.ts';

/** The embedded SQS runs in this process, so more concurrency only makes it slower. */
const SENDERS = 8;

let stage: Stage;
afterAll(() => stage.close());

async function sendAll(envelopes: readonly Wire[]): Promise<void> {
  const QueueUrl = `${stage.sqs.endpoint}/000000000000/first`;
  const batches = Array.from({ length: COUNT / 10 }, (_, n) => envelopes.slice(n * 10, n * 10 + 10));
  const sender = async () => {
    for (let batch = batches.pop(); batch !== undefined; batch = batches.pop()) {
      const Entries = batch.map((envelope, n) => ({ Id: String(n), MessageBody: JSON.stringify(envelope) }));
      await stage.sqs.client.send(new SendMessageBatchCommand({ QueueUrl, Entries }));
    }
  };
  await Promise.all(Array.from({ length: SENDERS }, sender));
}

async function takeAll(): Promise<readonly Wire[]> {
  const taken: Wire[] = [];
  const endsAt = Date.now() + TIMEOUT_MS;
  const taker = async () => {
    while (taken.length < COUNT) {
      const some = await stage.sqs.take('x-sink');
      taken.push(...some.map(({ Body = '' }) => JSON.parse(Body) as Wire));
      if (Date.now() > endsAt) throw new Error(`${taken.length} of ${COUNT} within ${TIMEOUT_MS} ms`);
      if (some.length < 10) await new Promise((resolve) => setTimeout(resolve, 100));
    }
  };
  await Promise.all([taker(), taker()]);
  return taken;
}

test(
  `${COUNT} envelopes through three actors: each arrives, and the counts add up`,
  async () => {
    stage = await setStage('x-sink', ...ACTORS);
    const ports = await startEchoes(stage);
    const route = { prev: [], curr: 'first', next: ['second', 'third'] };
    const envelopes = Array.from({ length: COUNT }, (_, n) => envelopeAt('first', { n }, { route }));
    const startedAt = performance.now();
    const [arrived] = await Promise.all([takeAll(), sendAll(envelopes)]);
    const seconds = (performance.now() - startedAt) / 1000;
    console.log(
      `${COUNT} envelopes through ${ACTORS.length} actors in ${seconds.toFixed(1)} s: ` +
        `${Math.round(COUNT / seconds)} envelopes/s, ${Math.round((COUNT * ACTORS.length) / seconds)} hops/s`,
    );

    expect(arrived.length).toBe(COUNT);
    const byId = new Map(arrived.map((envelope) => [envelope.id, envelope]));
    expect(byId.size).toBe(COUNT);
    for (const { id, payload } of envelopes) {
      const envelope = byId.get(id);
      if (envelope?.headers['traceparent'] !== TRACEPARENT) throw new Error(`${id} lost its trace`);
      expect({ route: envelope.route, payload: envelope.payload, phase: envelope.status?.phase }).toEqual({
        route: { prev: [...ACTORS], curr: '', next: [] },
        payload,
        phase: 'succeeded',
      });
    }

    // The last ack may still be in flight.
    for (const actor of ACTORS) {
      await until(async () => {
        const { visible, hidden, delayed } = await stage.sqs.counts(actor);
        return visible + hidden + delayed === 0;
      }, `${actor}'s queue is empty`);
      expect((await stage.sqs.counts(`${actor}-dlq`)).visible).toBe(0);
    }
    for (const [index, actor] of ACTORS.entries()) {
      const series = await scrape(ports[index] ?? 0);
      const next = ACTORS[index + 1];
      const destination =
        next === undefined
          ? 'destination_queue="x-sink",message_type="sink"'
          : `destination_queue="${next}",message_type="next"`;
      const ofKind = (kind: string) =>
        Object.fromEntries(
          [...series].filter(([name, value]) => name.startsWith(`asya_actor_${kind}{`) && value > 0),
        );
      expect(ofKind('messages_received_total')).toEqual({
        [`asya_actor_messages_received_total{queue="${actor}",transport="sqs"}`]: COUNT,
      });
      expect(ofKind('messages_total')).toEqual({
        [`asya_actor_messages_total{queue="${actor}",result="success"}`]: COUNT,
      });
      expect(ofKind('messages_sent_total')).toEqual({
        [`asya_actor_messages_sent_total{${destination}}`]: COUNT,
      });
      expect(ofKind('messages_failed_total')).toEqual({});
      expect(ofKind('runtime_errors_total')).toEqual({});
      expect(series.get(`asya_actor_active_messages{queue="${actor}"}`)).toBe(0);
    }
  },
  TIMEOUT_MS + 120_000,
);
