import { describe, expect, it } from 'vitest';
import { anEnvelope } from '../../core/a-delivery.ts';
import { aConsumer, idOf, VALUE, valueAfter } from '../a-consumer.ts';

/** A call that ends only when it is interrupted. */
const NEVER_ENDS = new Promise<never>(() => {});

describe('consuming a queue', () => {
  it('receives, calls, sends and acknowledges', async () => {
    const consumer = aConsumer();
    consumer.put('e-1', 'e-2', 'e-3');
    const working = consumer.start();
    await consumer.untilAcked(3);
    consumer.stop.abort();
    expect(await consumer.clock.passUntilSettled(working)).toEqual({ why: 'stopped' });
    expect(consumer.idsIn('score')).toEqual([]);
    expect(consumer.idsIn('store')).toEqual(['e-1', 'e-2', 'e-3']);
  });

  it('reports the number of deliveries and the waiting time', async () => {
    const { put, start, stop, clock, untilAcked, telemetry } = aConsumer();
    const working = start();
    await clock.pass(5_000);
    put('e-1');
    await untilAcked(1);
    stop.abort();
    await clock.passUntilSettled(working);
    expect(telemetry.text()).toContain('{"count":1,"waitedMs":5000}');
  });

  it.each([1, 2, 3, 7])('makes exactly %d calls at once while there is work', async (n) => {
    const consumer = aConsumer({ concurrency: n, end: (_id, clock) => valueAfter(clock, 1_000) });
    consumer.put(...Array.from({ length: 30 }, (_, index) => `e-${index}`));
    const working = consumer.start();
    await consumer.untilAcked(30);
    expect(consumer.runtime.mostRunning).toBe(n);
    expect(consumer.elapsedMs()).toBe(Math.ceil(30 / n) * 1_000);
    consumer.stop.abort();
    await consumer.clock.passUntilSettled(working);
  });

  it.each([
    ['fast', 100],
    ['too slow to be prefetched', 5_000],
  ])(
    'a slow delivery delays neither the calls nor the sends of others that are %s',
    async (_what, callMs) => {
      const consumer = aConsumer({
        concurrency: 2,
        end: (id, clock) => valueAfter(clock, id === 'slow' ? 200_000 : callMs),
      });
      consumer.put('slow', 'e-1', 'e-2', 'e-3', 'e-4', 'e-5');
      const working = consumer.start();
      await consumer.untilAcked(5);
      expect(consumer.idsIn('store')).toEqual(['e-1', 'e-2', 'e-3', 'e-4', 'e-5']);
      expect(consumer.elapsedMs()).toBe(5 * callMs);
      await consumer.untilAcked(6);
      expect(consumer.elapsedMs()).toBe(200_000);
      consumer.stop.abort();
      await consumer.clock.passUntilSettled(working);
    },
  );

  it('a slow send does not delay calls', async () => {
    const consumer = aConsumer({
      concurrency: 2,
      script: { takesMs: (request) => (request.what === 'send' && idOf(request) === 'slow' ? 60_000 : 0) },
      end: (_id, clock) => valueAfter(clock, 100),
    });
    consumer.put('slow', 'e-1', 'e-2', 'e-3');
    const working = consumer.start();
    await consumer.untilAcked(3);
    expect(consumer.idsIn('store')).toEqual(['e-1', 'e-2', 'e-3']);
    expect(consumer.elapsedMs()).toBeLessThan(1_000);
    consumer.stop.abort();
    await consumer.clock.passUntilSettled(working);
    expect(consumer.idsIn('store')).toContain('slow');
  });

  it('logs a failed settle and continues', async () => {
    const consumer = aConsumer({
      script: { refuse: (request) => (request.what === 'ack' && idOf(request) === 'e-1' ? 'no' : undefined) },
    });
    consumer.put('e-1', 'e-2');
    const working = consumer.start();
    await consumer.untilAcked(1);
    expect(consumer.telemetry.warnings).toContain('a delivery could not be acknowledged');
    consumer.stop.abort();
    await consumer.clock.passUntilSettled(working);
    expect(consumer.idsIn('score')).toEqual(['e-1']);
  });
});

describe('a runtime that restarts', () => {
  const LOADS_MS = 600_000;
  const CALL_MS = 10;

  /** The runtime crashes during the call of `poison`, and is ready again ten minutes later. */
  function aConsumerWithCrashingRuntime() {
    let readyAt = 0;
    return aConsumer({
      visibilityMs: 60_000,
      untilReady: (stop, clock) => clock.sleep(Math.max(0, readyAt - clock.now()), stop),
      end: async (id, clock) => {
        if (clock.now() < readyAt) return { kind: 'unreachable', detail: 'not ready' };
        await clock.sleep(CALL_MS);
        if (id !== 'poison' || readyAt !== 0) return VALUE;
        readyAt = clock.now() + LOADS_MS;
        return { kind: 'unreachable', detail: 'gone' };
      },
    });
  }

  it('keeps waiting deliveries hidden', async () => {
    const consumer = aConsumerWithCrashingRuntime();
    // The first calls are fast, so the consumer prefetches.
    consumer.put('e-1', 'e-2', 'poison', ...Array.from({ length: 20 }, (_, index) => `later-${index}`));
    const working = consumer.start();
    await consumer.clock.pass(LOADS_MS / 2);
    expect(consumer.transport.operationsOf('extend').length).toBeGreaterThan(0);
    await consumer.untilAcked(24);
    consumer.stop.abort();
    await consumer.clock.passUntilSettled(working);
    // One call for each delivery, and a second one for the poison.
    expect(consumer.runtime.calls.length).toBe(24);
    expect(consumer.idsIn('store').length).toBe(23);
  });

  it('leaves unreceived messages to other consumers', async () => {
    const consumer = aConsumerWithCrashingRuntime();
    consumer.put('poison');
    const working = consumer.start();
    await consumer.untilAcked(1);
    const receives = () => consumer.transport.operationsOf('receive').length;
    const before = receives();
    consumer.put('later');
    await consumer.clock.pass(LOADS_MS / 2);
    expect(receives()).toBe(before);
    await consumer.untilAcked(3);
    expect(consumer.elapsedMs()).toBeGreaterThan(LOADS_MS);
    consumer.stop.abort();
    await consumer.clock.passUntilSettled(working);
  });

  it('releases waiting deliveries when stopped', async () => {
    const consumer = aConsumerWithCrashingRuntime();
    consumer.put('e-1', 'e-2', 'poison', 'later-1', 'later-2', 'later-3');
    const working = consumer.start();
    await consumer.untilAcked(3);
    await consumer.clock.pass(5_000);
    const stoppedAtMs = consumer.elapsedMs();
    consumer.stop.abort();
    expect(await consumer.clock.passUntilSettled(working)).toEqual({ why: 'stopped' });
    expect(consumer.elapsedMs()).toBe(stoppedAtMs);
    expect(consumer.idsIn('score').toSorted()).toEqual(['later-1', 'later-2', 'later-3', 'poison']);
  });
});

describe('prefetch', () => {
  it('is used for fast calls', async () => {
    const consumer = aConsumer({ end: (_id, clock) => valueAfter(clock, 10) });
    consumer.put(...Array.from({ length: 12 }, (_, index) => `e-${index}`));
    const working = consumer.start();
    await consumer.untilAcked(12);
    const requested = consumer.transport.operationsOf('receive').map(({ most }) => most);
    expect(requested[0]).toBe(1);
    expect(requested[1]).toBe(10);
    consumer.stop.abort();
    await consumer.clock.passUntilSettled(working);
  });

  it('is not used for slow calls, which would hide deliveries from other consumers', async () => {
    const consumer = aConsumer({ concurrency: 2, end: (_id, clock) => valueAfter(clock, 5_000) });
    consumer.put(...Array.from({ length: 12 }, (_, index) => `e-${index}`));
    const working = consumer.start();
    await consumer.untilAcked(12);
    for (const { most } of consumer.transport.operationsOf('receive')) expect(most).toBeLessThanOrEqual(2);
    expect(consumer.transport.operationsOf('extend')).toEqual([]);
    consumer.stop.abort();
    await consumer.clock.passUntilSettled(working);
  });

  it('ends when calls become slow, and keeps waiting deliveries hidden', async () => {
    const consumer = aConsumer({
      visibilityMs: 100_000,
      end: (id, clock) => valueAfter(clock, id.startsWith('slow') ? 80_000 : 1),
    });
    consumer.put('fast');
    const working = consumer.start();
    await consumer.untilAcked(1);
    consumer.put('slow-1', 'slow-2', 'slow-3', 'slow-4');
    await consumer.untilAcked(5);
    // They were received together and waited up to 240 s, with a visibility timeout of 100 s. Each was delivered once.
    expect(consumer.runtime.calls.map(({ envelope }) => envelope.id)).toEqual([
      'fast',
      'slow-1',
      'slow-2',
      'slow-3',
      'slow-4',
    ]);
    expect(consumer.transport.operationsOf('extend').length).toBeGreaterThanOrEqual(6);
    expect(consumer.transport.operationsOf('receive').at(-1)?.most).toBe(1);
    consumer.stop.abort();
    await consumer.clock.passUntilSettled(working);
  });
});

describe('when stopped', () => {
  it('finishes deliveries in flight and releases waiting ones at once', async () => {
    const consumer = aConsumer({ end: (id, clock) => valueAfter(clock, id === 'fast' ? 1 : 5_000) });
    consumer.put('fast');
    const working = consumer.start();
    await consumer.untilAcked(1);
    consumer.put('in flight', 'waits', 'waits too');
    await consumer.clock.pass(1_000);
    expect(consumer.runtime.running).toBe(1);
    consumer.stop.abort();
    expect(await consumer.clock.passUntilSettled(working)).toEqual({ why: 'stopped' });
    expect(consumer.idsIn('store')).toEqual(['fast', 'in flight']);
    expect(consumer.transport.operationsOf('nack').map((one) => [idOf(one), one.afterMs])).toEqual([
      ['waits', 0],
      ['waits too', 0],
    ]);
    expect(consumer.idsIn('score')).toEqual(['waits', 'waits too']);
    expect(consumer.runtime.interruptions).toBe(0);
    expect(consumer.clock.sleepers).toBe(0);
  });

  it('ends a pending receive at once', async () => {
    const { start, stop, clock, elapsedMs } = aConsumer();
    const working = start();
    await clock.pass(3_000);
    stop.abort();
    expect(await clock.passUntilSettled(working)).toEqual({ why: 'stopped' });
    expect(elapsedMs()).toBe(3_000);
    expect(clock.sleepers).toBe(0);
  });

  it('receives nothing if it was stopped before the start', async () => {
    const { put, start, stop, transport } = aConsumer();
    put('e-1');
    stop.abort();
    expect(await start()).toEqual({ why: 'stopped' });
    expect(transport.operations).toEqual([]);
  });

  it('releases deliveries of a receive that returns after the stop', async () => {
    const consumer = aConsumer({
      wrap: (transport) => ({
        ...transport,
        receive: (queue, most) => transport.receive(queue, most, new AbortController().signal),
      }),
    });
    const working = consumer.start();
    await consumer.clock.pass(1_000);
    consumer.stop.abort();
    consumer.put('e-1');
    await consumer.clock.passUntilSettled(working);
    expect(consumer.runtime.calls).toEqual([]);
    expect(consumer.transport.operationsOf('nack').map(({ afterMs }) => afterMs)).toEqual([0]);
  });
});

describe('a call that hangs', () => {
  it('does not end the consumer if the runtime restarts itself', async () => {
    const consumer = aConsumer({ end: (id) => (id === 'hangs' ? { kind: 'timeout' } : VALUE) });
    consumer.put('hangs', 'e-2');
    const working = consumer.start();
    await consumer.untilAcked(2);
    expect(consumer.runtime.interruptions).toBe(0);
    consumer.stop.abort();
    expect(await consumer.clock.passUntilSettled(working)).toEqual({ why: 'stopped' });
  });

  it('ends the consumer after its ack if the runtime cannot be restarted; other calls are resent unchanged', async () => {
    const consumer = aConsumer({
      restartsItself: false,
      concurrency: 3,
      end: async (id, clock) => {
        if (id !== 'hangs') return NEVER_ENDS;
        await clock.sleep(300_000);
        return { kind: 'timeout' };
      },
    });
    consumer.put('hangs', 'e-2', 'e-3');
    const working = consumer.start();
    expect(await consumer.clock.passUntilSettled(working)).toEqual({ why: 'hung' });
    expect(consumer.idsIn('x-sink')).toEqual(['hangs']);
    expect(consumer.runtime.interruptions).toBe(1);
    expect(consumer.transport.operationsOf('ack').map(idOf)).toEqual(['hangs', 'e-2', 'e-3']);
    const back = consumer.broker.bodiesIn('score').map((body) => JSON.parse(body) as unknown);
    expect(back).toEqual(['e-2', 'e-3'].map((id) => ({ ...anEnvelope({ id }), headers: {} })));
  });

  it('releases waiting deliveries without calling them', async () => {
    const consumer = aConsumer({
      restartsItself: false,
      end: async (id, clock) => {
        if (id === 'fast') return VALUE;
        await clock.sleep(300_000);
        return { kind: 'timeout' };
      },
      // While the sends take time, waiting deliveries must not call a runtime that hangs.
      script: { takesMs: ({ what }) => (what === 'send' ? 100 : 0) },
    });
    consumer.put('fast');
    const working = consumer.start();
    await consumer.untilAcked(1);
    consumer.put('hangs', 'waits', 'waits too');
    expect(await consumer.clock.passUntilSettled(working)).toEqual({ why: 'hung' });
    expect(consumer.idsIn('x-sink')).toEqual(['hangs']);
    expect(consumer.idsIn('score').toSorted()).toEqual(['waits', 'waits too']);
    expect(consumer.runtime.calls.map(({ envelope }) => envelope.id)).toEqual(['fast', 'hangs']);
  });
});

describe('a bug', () => {
  it('is thrown after deliveries in flight are settled', async () => {
    const consumer = aConsumer({
      concurrency: 3,
      end: async (id, clock) => {
        if (id === 'bug') throw new Error('a bug');
        return valueAfter(clock, 5_000);
      },
    });
    consumer.put('e-1', 'bug', 'e-3');
    const working = consumer.start();
    await expect(consumer.clock.passUntilSettled(working)).rejects.toThrow('a bug');
    expect(consumer.idsIn('store')).toEqual(['e-1', 'e-3']);
    expect(consumer.idsIn('score')).toEqual(['bug']);
    expect(consumer.elapsedMs()).toBe(5_000);
  });

  it('during a call frees its slot', async () => {
    const consumer = aConsumer({
      end: (id) => {
        if (id === 'bug') throw new Error('a bug');
        return VALUE;
      },
    });
    consumer.put('fast');
    const working = consumer.start();
    await consumer.untilAcked(1);
    consumer.put('bug', 'waits', 'waits too');
    await expect(consumer.clock.passUntilSettled(working)).rejects.toThrow('a bug');
    expect(consumer.transport.operationsOf('nack').map((one) => [idOf(one), one.afterMs])).toEqual([
      ['waits', 0],
      ['waits too', 0],
    ]);
  });

  it('in a send is thrown too, and waiting deliveries are released', async () => {
    const consumer = aConsumer({
      wrap: (transport) => ({
        ...transport,
        send: async (queue, body) => {
          if (idOf({ body }) === 'bug') throw new Error('a bug');
          return transport.send(queue, body);
        },
      }),
    });
    consumer.put('fast');
    const working = consumer.start();
    await consumer.untilAcked(1);
    consumer.put('bug', 'waits');
    await expect(consumer.clock.passUntilSettled(working)).rejects.toThrow('a bug');
    expect(consumer.idsIn('score')).toContain('bug');
  });
});
