import { describe, expect, it } from 'vitest';
import { createMissingQueues } from '../../../lib/app/delivery/create-missing-queues.ts';
import { recordingTelemetry } from '../a-line.ts';
import { memoryBroker } from '../memory-broker.ts';
import { type Script, scriptedTransport } from '../scripted-transport.ts';
import { virtualClock } from '../virtual-clock.ts';

function aTransport(queues: readonly string[], script?: Script) {
  const clock = virtualClock();
  const broker = memoryBroker({ clock });
  for (const queue of queues) broker.createQueue(queue);
  const inner = scriptedTransport(broker.transport(), clock, script);
  const telemetry = recordingTelemetry();
  return { broker, inner, telemetry, transport: createMissingQueues(inner, telemetry) };
}

describe('a send to a missing queue', () => {
  it.each([
    ['send', (transport: ReturnType<typeof aTransport>['transport']) => transport.send('store', '"a"')],
    [
      'sendWithDelay',
      (transport: ReturnType<typeof aTransport>['transport']) =>
        transport.sendWithDelay('store', '"a"', 5_000),
    ],
  ])('%s creates the queue and sends again', async (_name, send) => {
    const { transport, broker, telemetry } = aTransport(['score']);
    expect(await send(transport)).toEqual({ ok: true });
    expect(broker.bodiesIn('store')).toEqual(['"a"']);
    expect(telemetry.warnings).toEqual(['created a queue that an envelope was sent to']);
  });

  it('creates it once for many sends at the same time', async () => {
    const { transport, broker, inner } = aTransport([]);
    const replies = await Promise.all(
      Array.from({ length: 50 }, (_, n) => transport.send('store', String(n))),
    );
    expect(replies.every(({ ok }) => ok)).toBe(true);
    expect(broker.bodiesIn('store')).toHaveLength(50);
    expect(inner.operationsOf('ensureQueue')).toHaveLength(1);
  });

  it('is refused with both reasons if the queue cannot be created', async () => {
    const { transport } = aTransport([], {
      refuse: ({ what }) => (what === 'ensureQueue' ? 'AccessDenied' : undefined),
    });
    expect(await transport.send('store', '"a"')).toEqual({
      ok: false,
      problem: 'queue "store" does not exist; creating it failed: AccessDenied',
      isQueueMissing: true,
    });
  });

  it('creates nothing if the send is refused for another reason', async () => {
    const { transport, inner } = aTransport(['store'], {
      refuse: ({ what }) => (what === 'send' ? 'unreachable' : undefined),
    });
    expect(await transport.send('store', '"a"')).toMatchObject({ ok: false });
    expect(inner.operationsOf('ensureQueue')).toEqual([]);
  });
});
