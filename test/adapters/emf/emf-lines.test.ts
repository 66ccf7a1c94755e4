import fc from 'fast-check';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { emfLines } from '../../../lib/adapters/emf/emf-lines.ts';
import { emfTelemetry, type PublishGroups } from '../../../lib/adapters/emf/emf-telemetry.ts';
import { publishWithPowertools } from '../../../lib/adapters/emf/powertools-metrics.ts';
import type { Fact } from '../../../lib/core/delivery/plan.ts';
import type { DeliveryReport } from '../../../lib/ports/telemetry.ts';

/** The lines that the sidecar writes are the ones that Powertools would print. */

const NOW = Date.UTC(2026, 0, 1);
const SOURCE = { queue: 'dev-score', transport: 'sqs', queueOf: (actor: string) => `dev-${actor}` };
let printed: string[] = [];

beforeEach(() => {
  printed = [];
  vi.stubEnv('POWERTOOLS_SERVICE_NAME', 'dev-letters');
  vi.useFakeTimers({ now: NOW, toFake: ['Date'] });
  vi.spyOn(process.stdout, 'write').mockImplementation((text) => {
    printed.push(String(text));
    return true;
  });
});
afterEach(() => {
  vi.restoreAllMocks();
  vi.unstubAllEnvs();
  vi.useRealTimers();
});

interface Invocation {
  readonly received: number;
  readonly reports: readonly DeliveryReport[];
}

function linesWith(publish: PublishGroups, invocations: readonly Invocation[]): readonly unknown[] {
  printed = [];
  const telemetry = emfTelemetry(SOURCE, publish);
  for (const { received, reports } of invocations) {
    telemetry.received(received, 0);
    for (const report of reports) telemetry.ended(report);
    telemetry.publish();
  }
  const lines = printed.join('').split('\n');
  expect(lines.pop()).toBe('');
  return lines.map((line) => JSON.parse(line));
}

const own = emfLines({
  service: 'dev-letters',
  now: () => NOW,
  write: (lines) => process.stdout.write(lines),
});

const sizes = fc.integer({ min: 0, max: 1_048_576 });
const durations = fc.double({ min: 0, max: 900_000, noNaN: true });
const facts: fc.Arbitrary<Fact> = fc.oneof(
  fc.record({ fact: fc.constant('result' as const), result: fc.constantFrom('success', 'error', 'retried') }),
  fc.record({ fact: fc.constant('failed' as const), reason: fc.constantFrom('timeout', 'runtime_error') }),
  fc.record({
    fact: fc.constant('runtime-error' as const),
    errorType: fc.constantFrom('execution', 'connection'),
  }),
  fc.record({
    fact: fc.constant('sent' as const),
    type: fc.constantFrom('next', 'sink', 'retry', 'escalation'),
    to: fc.constantFrom('store', 'x-sink', 'étape "1"'),
  }),
) as fc.Arbitrary<Fact>;
const reports: fc.Arbitrary<DeliveryReport> = fc.record({
  envelopeId: fc.uuid(),
  attempt: fc.constant(1),
  settle: fc.constantFrom('ack', 'release'),
  facts: fc.array(facts, { maxLength: 5 }),
  receivedBytes: sizes,
  sentBytes: fc.array(sizes, { maxLength: 4 }),
  processingMs: durations,
  runtimeMs: durations,
  sendMs: durations,
});
const invocations = fc.record({ received: sizes, reports: fc.array(reports, { maxLength: 10 }) });

test('are the lines of Powertools, for every set of deliveries', () => {
  fc.assert(
    fc.property(fc.array(invocations, { maxLength: 3 }), (all) => {
      expect(linesWith(own, all)).toEqual(linesWith(publishWithPowertools, all));
    }),
    { numRuns: 100 },
  );
});

test('keep every value and its labels if an invocation has more values than a line may contain', () => {
  const sentBytes = Array.from({ length: 250 }, (_, index) => index);
  const [report] = fc.sample(reports, 1);
  const all = [{ received: 1, reports: [{ ...(report as DeliveryReport), facts: [], sentBytes }] }];
  for (const publish of [own, publishWithPowertools]) {
    const lines = linesWith(publish, all) as Record<string, unknown>[];
    const sent = lines.filter(({ direction }) => direction === 'sent');
    expect(sent.flatMap(({ MessageSizeBytes }) => MessageSizeBytes)).toEqual(sentBytes);
    expect(sent.map(({ MessageSizeBytes }) => (MessageSizeBytes as number[]).length)).toEqual([99, 99, 52]);
  }
});

test('nothing is written if nothing was measured', () => {
  emfTelemetry(SOURCE, own).publish();
  expect(printed).toEqual([]);
});
