import { describe, expect, it } from 'vitest';
import {
  METRICS,
  measurementsOfDelivery,
  measurementsOfReceive,
  type ProcessedDelivery,
} from '../../../lib/core/delivery/metrics.ts';

const LABELS = { queue: 'score', transport: 'sqs' };
const PLACE = { ...LABELS, queueOf: (actor: string) => `asya-prod-${actor}` };
const WORKED: ProcessedDelivery = {
  facts: [],
  receivedBytes: 100,
  sentBytes: [],
  processingMs: 1_500,
  sendMs: 20,
};

describe('the metrics', () => {
  it('have the specified names and labels', () => {
    expect(Object.fromEntries(Object.entries(METRICS).map(([name, { labels }]) => [name, labels]))).toEqual({
      messages_received_total: ['queue', 'transport'],
      messages_total: ['queue', 'result'],
      messages_sent_total: ['destination_queue', 'message_type'],
      messages_failed_total: ['queue', 'reason'],
      failures_recorded_total: ['actor', 'reason'],
      processing_duration_seconds: ['queue'],
      runtime_execution_duration_seconds: ['queue'],
      queue_receive_duration_seconds: ['queue', 'transport'],
      queue_send_duration_seconds: ['queue', 'transport'],
      message_size_bytes: ['direction'],
      active_messages: ['queue'],
      runtime_errors_total: ['queue', 'error_type'],
    });
  });

  it('have the kind of their suffix, and a help text', () => {
    for (const [name, { kind, help }] of Object.entries(METRICS)) {
      const kindByName = name.endsWith('_total') ? 'count' : (name.split('_').at(-1) as string);
      expect(kind).toBe(kindByName === 'messages' ? 'level' : kindByName);
      expect(help).toMatch(/^[A-Z][a-z].+/);
    }
  });
});

describe('measurementsOfReceive', () => {
  it('counts deliveries and the seconds of waiting', () => {
    expect(measurementsOfReceive(7, 2_500, PLACE)).toEqual([
      { name: 'messages_received_total', labels: LABELS, value: 7 },
      { name: 'queue_receive_duration_seconds', labels: LABELS, value: 2.5 },
    ]);
  });
});

describe('measurementsOfDelivery', () => {
  it('contains duration and size without facts', () => {
    expect(measurementsOfDelivery(WORKED, PLACE)).toEqual([
      { name: 'processing_duration_seconds', labels: { queue: 'score' }, value: 1.5 },
      { name: 'message_size_bytes', labels: { direction: 'received' }, value: 100 },
    ]);
  });

  it('contains the duration of a call, even if it is 0', () => {
    const measured = (runtimeMs: number) => measurementsOfDelivery({ ...WORKED, runtimeMs }, PLACE)[1];
    const labels = { queue: 'score' };
    expect(measured(250)).toEqual({ name: 'runtime_execution_duration_seconds', labels, value: 0.25 });
    expect(measured(0)).toEqual({ name: 'runtime_execution_duration_seconds', labels, value: 0 });
  });

  it('contains the duration of all sends and the size of each', () => {
    expect(measurementsOfDelivery({ ...WORKED, sentBytes: [1, 2] }, PLACE).slice(1)).toEqual([
      { name: 'queue_send_duration_seconds', labels: LABELS, value: 0.02 },
      { name: 'message_size_bytes', labels: { direction: 'received' }, value: 100 },
      { name: 'message_size_bytes', labels: { direction: 'sent' }, value: 1 },
      { name: 'message_size_bytes', labels: { direction: 'sent' }, value: 2 },
    ]);
  });

  it('counts each fact except for the policy', () => {
    const facts: ProcessedDelivery['facts'] = [
      { fact: 'result', result: 'error' },
      { fact: 'runtime-error', errorType: 'execution' },
      { fact: 'policy', policy: 'default' },
      { fact: 'failed', reason: 'policy_exhausted' },
      { fact: 'sent', to: 'x-sink', type: 'sink' },
    ];
    expect(measurementsOfDelivery({ ...WORKED, facts }, PLACE).slice(0, -2)).toEqual([
      { name: 'messages_total', labels: { queue: 'score', result: 'error' }, value: 1 },
      { name: 'runtime_errors_total', labels: { queue: 'score', error_type: 'execution' }, value: 1 },
      { name: 'messages_failed_total', labels: { queue: 'score', reason: 'policy_exhausted' }, value: 1 },
      {
        name: 'messages_sent_total',
        labels: { destination_queue: 'asya-prod-x-sink', message_type: 'sink' },
        value: 1,
      },
    ]);
  });

  it("uses the topic's name for an escalation", () => {
    const facts: ProcessedDelivery['facts'] = [{ fact: 'sent', to: 'errors', type: 'escalation' }];
    expect(measurementsOfDelivery({ ...WORKED, facts }, PLACE)[0]?.labels).toEqual({
      destination_queue: 'errors',
      message_type: 'escalation',
    });
  });

  it("contains exactly the metric's labels, and no ids", () => {
    const facts: ProcessedDelivery['facts'] = [
      { fact: 'result', result: 'success' },
      { fact: 'runtime-error', errorType: 'timeout' },
      { fact: 'failed', reason: 'timeout' },
      { fact: 'sent', to: 'store', type: 'next' },
    ];
    const measured = measurementsOfDelivery({ ...WORKED, facts, runtimeMs: 1, sentBytes: [1] }, PLACE);
    for (const { name, labels } of [...measured, ...measurementsOfReceive(1, 1, PLACE)]) {
      expect(Object.keys(labels).sort()).toEqual([...METRICS[name].labels].sort());
    }
  });
});
