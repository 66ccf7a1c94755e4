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

function listener(heard: unknown[]): Telemetry {
  const hear =
    (what: string) =>
    (...words: readonly unknown[]) => {
      heard.push([what, ...words]);
    };
  return {
    received: hear('received'),
    began: hear('began'),
    ended: hear('ended'),
    warn: hear('trouble'),
    step: hear('step'),
  };
}

describe('telemetry to all', () => {
  it.each([0, 1, 3])('passes everything to each of %d listeners, in order', (count) => {
    const heard: unknown[][] = Array.from({ length: count }, () => []);
    const telemetry = telemetryToAll(...heard.map(listener));
    telemetry.received(2, 30);
    telemetry.began();
    telemetry.ended(REPORT);
    telemetry.warn('gone', { queue: 'q' });
    telemetry.step('sent', { to: 'q' });
    for (const one of heard) {
      expect(one).toEqual([
        ['received', 2, 30],
        ['began'],
        ['ended', REPORT],
        ['trouble', 'gone', { queue: 'q' }],
        ['step', 'sent', { to: 'q' }],
      ]);
    }
  });
});
