import { describe, expect, it } from 'vitest';
import { startVisibilityHeartbeat } from '../../../lib/app/delivery/visibility-heartbeat.ts';
import type { Delivery, Transport } from '../../../lib/ports/transport.ts';
import { memoryBroker } from '../memory-broker.ts';
import { type Script, type ScriptedTransport, scriptedTransport } from '../scripted-transport.ts';
import { type VirtualClock, virtualClock } from '../virtual-clock.ts';

const VISIBILITY_MS = 100_000;

interface ReceivedDelivery {
  readonly clock: VirtualClock;
  readonly transport: ScriptedTransport;
  readonly delivery: Delivery;
  readonly startedAt: number;
  /** When it was extended, in milliseconds since the start. */
  extensions(): readonly number[];
  /** Whether another consumer could receive it now. */
  isVisible(): Promise<boolean>;
}

async function received(script: Script = {}): Promise<ReceivedDelivery> {
  const clock = virtualClock();
  const broker = memoryBroker({ clock });
  broker.createQueue('score');
  const inner = broker.transport({ visibilityMs: VISIBILITY_MS, waitMs: 0 });
  const transport = scriptedTransport(inner, clock, script);
  await inner.send('score', '1');
  const receipt = await inner.receive('score', 1, new AbortController().signal);
  const [delivery] = receipt.ok ? receipt.deliveries : [];
  if (delivery === undefined) throw new Error('nothing was received');
  const startedAt = clock.now();
  return {
    clock,
    transport,
    delivery,
    startedAt,
    extensions: () => transport.operationsOf('extend').map(({ beganAt }) => beganAt - startedAt),
    isVisible: async () => {
      const other = await inner.receive('score', 1, new AbortController().signal);
      return other.ok && other.deliveries.length > 0;
    },
  };
}

describe('a delivery that waits for a slot', () => {
  it('is extended after every half of its visibility timeout, and stays hidden', async () => {
    const { clock, transport, delivery, extensions, isVisible } = await received();
    const heartbeat = startVisibilityHeartbeat(delivery, transport, clock);
    for (let step = 0; step < 21; step++) {
      await clock.pass(10_000);
      expect(await isVisible()).toBe(false);
    }
    expect(extensions()).toEqual([50_000, 100_000, 150_000, 200_000]);
    await heartbeat.stop();
    expect(await isVisible()).toBe(false);
  });

  it('is not extended if it gets a slot soon, or afterwards', async () => {
    const { clock, transport, delivery, extensions } = await received();
    const heartbeat = startVisibilityHeartbeat(delivery, transport, clock);
    await clock.pass(25_000);
    await heartbeat.stop();
    expect(extensions()).toEqual([]);
    expect(clock.sleepers).toBe(0);
    await clock.pass(1_000_000);
    expect(extensions()).toEqual([]);
  });

  it('is extended once more if it gets a slot late', async () => {
    const { clock, transport, delivery, extensions, isVisible } = await received();
    const heartbeat = startVisibilityHeartbeat(delivery, transport, clock);
    await clock.pass(25_001);
    await heartbeat.stop();
    expect(extensions()).toEqual([25_001]);
    await clock.pass(VISIBILITY_MS - 1);
    expect(await isVisible()).toBe(false);
    await clock.pass(1);
    expect(await isVisible()).toBe(true);
  });

  it('counts the time from the last extension', async () => {
    const { clock, transport, delivery, extensions } = await received();
    const heartbeat = startVisibilityHeartbeat(delivery, transport, clock);
    await clock.pass(60_000);
    await heartbeat.stop();
    expect(extensions()).toEqual([50_000]);
  });

  it('is extended when it gets a slot if the last extension was refused', async () => {
    let refusals = 1;
    const refuse = () => (refusals-- > 0 ? 'no' : undefined);
    const { clock, transport, delivery, extensions } = await received({ refuse });
    const heartbeat = startVisibilityHeartbeat(delivery, transport, clock);
    await clock.pass(60_000);
    await heartbeat.stop();
    expect(extensions()).toEqual([50_000, 60_000]);
  });

  it('waits for a pending extension when it gets a slot', async () => {
    const { clock, transport, delivery, extensions } = await received({ takesMs: () => 5_000 });
    const heartbeat = startVisibilityHeartbeat(delivery, transport, clock);
    await clock.pass(52_000);
    let hasStopped = false;
    const ending = heartbeat.stop().then(() => {
      hasStopped = true;
    });
    await clock.pass(2_000);
    expect(hasStopped).toBe(false);
    await clock.pass(1_000);
    await ending;
    expect(extensions()).toEqual([50_000]);
  });

  it('needs no extension if the broker has no visibility timeout', async () => {
    const { clock, transport, delivery, extensions } = await received();
    const { visibilityMs: _visibility, ...traits } = transport.traits;
    const withoutTimeout: Transport = { ...transport, traits };
    const heartbeat = startVisibilityHeartbeat(delivery, withoutTimeout, clock);
    await clock.pass(10_000_000);
    await heartbeat.stop();
    expect(extensions()).toEqual([]);
  });
});
