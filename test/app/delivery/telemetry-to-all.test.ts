import { describe, expect, it } from 'vitest';
import { telemetryToAll } from '../../../lib/app/delivery/telemetry-to-all.ts';
import type { DeliveryReport, Telemetry } from '../../../lib/ports/telemetry.ts';

const REPORT: DeliveryReport = {
  envelopeId: 'e-1',
  attempt: 1,
  settle: 'ack',
  facts: [],
  receivedBytes: 1,
  sentBytes: [],
  processingMs: 1,
  sendMs: 1,
};

function recordingListener(events: unknown[]): Telemetry {
  const record =
    (what: string) =>
    (...args: readonly unknown[]) => {
      events.push([what, ...args]);
    };
  return {
    received: record('received'),
    began: record('began'),
    ended: record('ended'),
    warn: record('warn'),
    step: record('step'),
  };
}

describe('telemetry to all', () => {
  it.each([0, 1, 3])('passes everything to each of %d listeners, in order', (count) => {
    const events: unknown[][] = Array.from({ length: count }, () => []);
    const telemetry = telemetryToAll(...events.map(recordingListener));
    telemetry.received(2, 30);
    telemetry.began();
    telemetry.ended(REPORT);
    telemetry.warn('gone', { queue: 'q' });
    telemetry.step('sent', { to: 'q' });
    for (const one of events) {
      expect(one).toEqual([
        ['received', 2, 30],
        ['began'],
        ['ended', REPORT],
        ['warn', 'gone', { queue: 'q' }],
        ['step', 'sent', { to: 'q' }],
      ]);
    }
  });
});
