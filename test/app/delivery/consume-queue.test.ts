import { describe, expect, it } from 'vitest';
import { anEnvelope } from '../../core/a-delivery.ts';
import { aWorkshop, idOf, VALUE, valueAfter } from '../a-workshop.ts';

/** A call that only an interruption ends. */
const FOR_EVER = new Promise<never>(() => {});

describe('consuming a queue', () => {
  it('receives, calls, sends and acknowledges', async () => {
    const workshop = aWorkshop();
    workshop.put('e-1', 'e-2', 'e-3');
    const working = workshop.start();
    await workshop.untilAcked(3);
    workshop.stop.abort();
    expect(await workshop.clock.passUntilSettled(working)).toEqual({ why: 'stopped' });
    expect(workshop.idsIn('score')).toEqual([]);
    expect(workshop.idsIn('store')).toEqual(['e-1', 'e-2', 'e-3']);
  });

  it('reports the number of deliveries and the waiting time', async () => {
    const { put, start, stop, clock, untilAcked, told } = aWorkshop();
    const working = start();
    await clock.pass(5_000);
    put('e-1');
    await untilAcked(1);
    stop.abort();
    await clock.passUntilSettled(working);
    expect(told.text()).toContain('{"count":1,"waitedMs":5000}');
  });

  it.each([1, 2, 3, 7])(
    'never makes more than %d calls at once, and no fewer where there is work',
    async (n) => {
      const workshop = aWorkshop({ concurrency: n, end: (_id, clock) => valueAfter(clock, 1_000) });
      workshop.put(...Array.from({ length: 30 }, (_, index) => `e-${index}`));
      const working = workshop.start();
      await workshop.untilAcked(30);
      expect(workshop.runtime.mostRunning).toBe(n);
      expect(workshop.elapsedMs()).toBe(Math.ceil(30 / n) * 1_000);
      workshop.stop.abort();
      await workshop.clock.passUntilSettled(working);
    },
  );

  it.each([
    ['fast', 100],
    ['too slow to be taken ahead', 5_000],
  ])(
    'a slow record holds back neither the calls nor the sends of others that are %s',
    async (_what, callMs) => {
      const workshop = aWorkshop({
        concurrency: 2,
        end: (id, clock) => valueAfter(clock, id === 'slow' ? 200_000 : callMs),
      });
      workshop.put('slow', 'e-1', 'e-2', 'e-3', 'e-4', 'e-5');
      const working = workshop.start();
      await workshop.untilAcked(5);
      expect(workshop.idsIn('store')).toEqual(['e-1', 'e-2', 'e-3', 'e-4', 'e-5']);
      expect(workshop.elapsedMs()).toBe(5 * callMs);
      await workshop.untilAcked(6);
      expect(workshop.elapsedMs()).toBe(200_000);
      workshop.stop.abort();
      await workshop.clock.passUntilSettled(working);
    },
  );

  it('a slow send does not delay calls', async () => {
    const workshop = aWorkshop({
      concurrency: 2,
      script: { takesMs: (asked) => (asked.what === 'send' && idOf(asked) === 'slow' ? 60_000 : 0) },
      end: (_id, clock) => valueAfter(clock, 100),
    });
    workshop.put('slow', 'e-1', 'e-2', 'e-3');
    const working = workshop.start();
    await workshop.untilAcked(3);
    expect(workshop.idsIn('store')).toEqual(['e-1', 'e-2', 'e-3']);
    expect(workshop.elapsedMs()).toBeLessThan(1_000);
    workshop.stop.abort();
    await workshop.clock.passUntilSettled(working);
    expect(workshop.idsIn('store')).toContain('slow');
  });

  it('logs a failed settle and continues', async () => {
    const workshop = aWorkshop({
      script: { refuse: (asked) => (asked.what === 'ack' && idOf(asked) === 'e-1' ? 'no' : undefined) },
    });
    workshop.put('e-1', 'e-2');
    const working = workshop.start();
    await workshop.untilAcked(1);
    expect(workshop.told.troubles).toContain('a delivery could not be acknowledged');
    workshop.stop.abort();
    await workshop.clock.passUntilSettled(working);
    expect(workshop.idsIn('score')).toEqual(['e-1']);
  });
});

describe('a runtime that restarts', () => {
  const LOADS_MS = 600_000;
  const CALL_MS = 10;

  /** It dies with the call of `poison`, and is there again ten minutes later. */
  function aFrailWorkshop() {
    let readyAt = 0;
    return aWorkshop({
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
    const workshop = aFrailWorkshop();
    // The first calls tell that it is fast: then some are taken ahead.
    workshop.put('e-1', 'e-2', 'poison', ...Array.from({ length: 20 }, (_, index) => `later-${index}`));
    const working = workshop.start();
    await workshop.clock.pass(LOADS_MS / 2);
    expect(workshop.transport.operationsOf('extend').length).toBeGreaterThan(0);
    await workshop.untilAcked(24);
    workshop.stop.abort();
    await workshop.clock.passUntilSettled(working);
    // No call in vain: each once, and the poison again.
    expect(workshop.runtime.calls.length).toBe(24);
    expect(workshop.idsIn('store').length).toBe(23);
  });

  it('leaves unreceived messages to other consumers', async () => {
    const workshop = aFrailWorkshop();
    workshop.put('poison');
    const working = workshop.start();
    await workshop.untilAcked(1);
    const receives = () => workshop.transport.operationsOf('receive').length;
    const before = receives();
    workshop.put('later');
    await workshop.clock.pass(LOADS_MS / 2);
    expect(receives()).toBe(before);
    await workshop.untilAcked(3);
    expect(workshop.elapsedMs()).toBeGreaterThan(LOADS_MS);
    workshop.stop.abort();
    await workshop.clock.passUntilSettled(working);
  });

  it('releases waiting deliveries when stopped', async () => {
    const workshop = aFrailWorkshop();
    workshop.put('e-1', 'e-2', 'poison', 'later-1', 'later-2', 'later-3');
    const working = workshop.start();
    await workshop.untilAcked(3);
    await workshop.clock.pass(5_000);
    const toldAt = workshop.elapsedMs();
    workshop.stop.abort();
    expect(await workshop.clock.passUntilSettled(working)).toEqual({ why: 'stopped' });
    expect(workshop.elapsedMs()).toBe(toldAt);
    expect(workshop.idsIn('score').toSorted()).toEqual(['later-1', 'later-2', 'later-3', 'poison']);
  });
});

describe('prefetch', () => {
  it('is used for fast calls', async () => {
    const workshop = aWorkshop({ end: (_id, clock) => valueAfter(clock, 10) });
    workshop.put(...Array.from({ length: 12 }, (_, index) => `e-${index}`));
    const working = workshop.start();
    await workshop.untilAcked(12);
    const asked = workshop.transport.operationsOf('receive').map(({ most }) => most);
    expect(asked[0]).toBe(1);
    expect(asked[1]).toBe(10);
    workshop.stop.abort();
    await workshop.clock.passUntilSettled(working);
  });

  it('is not used for slow calls, which would hide deliveries from other consumers', async () => {
    const workshop = aWorkshop({ concurrency: 2, end: (_id, clock) => valueAfter(clock, 5_000) });
    workshop.put(...Array.from({ length: 12 }, (_, index) => `e-${index}`));
    const working = workshop.start();
    await workshop.untilAcked(12);
    for (const { most } of workshop.transport.operationsOf('receive')) expect(most).toBeLessThanOrEqual(2);
    expect(workshop.transport.operationsOf('extend')).toEqual([]);
    workshop.stop.abort();
    await workshop.clock.passUntilSettled(working);
  });

  it('ends when calls become slow, and keeps waiting deliveries hidden', async () => {
    const workshop = aWorkshop({
      visibilityMs: 100_000,
      end: (id, clock) => valueAfter(clock, id.startsWith('slow') ? 80_000 : 1),
    });
    workshop.put('fast');
    const working = workshop.start();
    await workshop.untilAcked(1);
    workshop.put('slow-1', 'slow-2', 'slow-3', 'slow-4');
    await workshop.untilAcked(5);
    // Taken together, they waited for up to 240 s in a queue that hides for 100 s: each came once.
    expect(workshop.runtime.calls.map(({ envelope }) => envelope.id)).toEqual([
      'fast',
      'slow-1',
      'slow-2',
      'slow-3',
      'slow-4',
    ]);
    expect(workshop.transport.operationsOf('extend').length).toBeGreaterThanOrEqual(6);
    expect(workshop.transport.operationsOf('receive').at(-1)?.most).toBe(1);
    workshop.stop.abort();
    await workshop.clock.passUntilSettled(working);
  });
});

describe('when stopped', () => {
  it('finishes deliveries in flight and releases waiting ones at once', async () => {
    const workshop = aWorkshop({ end: (id, clock) => valueAfter(clock, id === 'fast' ? 1 : 5_000) });
    workshop.put('fast');
    const working = workshop.start();
    await workshop.untilAcked(1);
    workshop.put('in flight', 'waits', 'waits too');
    await workshop.clock.pass(1_000);
    expect(workshop.runtime.running).toBe(1);
    workshop.stop.abort();
    expect(await workshop.clock.passUntilSettled(working)).toEqual({ why: 'stopped' });
    expect(workshop.idsIn('store')).toEqual(['fast', 'in flight']);
    expect(workshop.transport.operationsOf('nack').map((one) => [idOf(one), one.afterMs])).toEqual([
      ['waits', 0],
      ['waits too', 0],
    ]);
    expect(workshop.idsIn('score')).toEqual(['waits', 'waits too']);
    expect(workshop.runtime.interruptions).toBe(0);
    expect(workshop.clock.sleepers).toBe(0);
  });

  it('ends a pending receive at once', async () => {
    const { start, stop, clock, elapsedMs } = aWorkshop();
    const working = start();
    await clock.pass(3_000);
    stop.abort();
    expect(await clock.passUntilSettled(working)).toEqual({ why: 'stopped' });
    expect(elapsedMs()).toBe(3_000);
    expect(clock.sleepers).toBe(0);
  });

  it('receives nothing if it was stopped before', async () => {
    const { put, start, stop, transport } = aWorkshop();
    put('e-1');
    stop.abort();
    expect(await start()).toEqual({ why: 'stopped' });
    expect(transport.operations).toEqual([]);
  });

  it('releases deliveries of a receive that returns after the stop', async () => {
    const workshop = aWorkshop({
      wrap: (transport) => ({
        ...transport,
        receive: (queue, most) => transport.receive(queue, most, new AbortController().signal),
      }),
    });
    const working = workshop.start();
    await workshop.clock.pass(1_000);
    workshop.stop.abort();
    workshop.put('e-1');
    await workshop.clock.passUntilSettled(working);
    expect(workshop.runtime.calls).toEqual([]);
    expect(workshop.transport.operationsOf('nack').map(({ afterMs }) => afterMs)).toEqual([0]);
  });
});

describe('a call that hangs', () => {
  it('does not end the consumer if the runtime restarts itself', async () => {
    const workshop = aWorkshop({ end: (id) => (id === 'hangs' ? { kind: 'timeout' } : VALUE) });
    workshop.put('hangs', 'e-2');
    const working = workshop.start();
    await workshop.untilAcked(2);
    expect(workshop.runtime.interruptions).toBe(0);
    workshop.stop.abort();
    expect(await workshop.clock.passUntilSettled(working)).toEqual({ why: 'stopped' });
  });

  it('ends the consumer after its ack if the runtime cannot be restarted; other calls are resent unchanged', async () => {
    const workshop = aWorkshop({
      restartsItself: false,
      concurrency: 3,
      end: async (id, clock) => {
        if (id !== 'hangs') return FOR_EVER;
        await clock.sleep(300_000);
        return { kind: 'timeout' };
      },
    });
    workshop.put('hangs', 'e-2', 'e-3');
    const working = workshop.start();
    expect(await workshop.clock.passUntilSettled(working)).toEqual({ why: 'hung' });
    expect(workshop.idsIn('x-sink')).toEqual(['hangs']);
    expect(workshop.runtime.interruptions).toBe(1);
    expect(workshop.transport.operationsOf('ack').map(idOf)).toEqual(['hangs', 'e-2', 'e-3']);
    const back = workshop.broker.bodiesIn('score').map((body) => JSON.parse(body) as unknown);
    expect(back).toEqual(['e-2', 'e-3'].map((id) => ({ ...anEnvelope({ id }), headers: {} })));
  });

  it('releases waiting deliveries without calling them', async () => {
    const workshop = aWorkshop({
      restartsItself: false,
      end: async (id, clock) => {
        if (id === 'fast') return VALUE;
        await clock.sleep(300_000);
        return { kind: 'timeout' };
      },
      // The sends take a while: whoever waits must not begin meanwhile in a runtime that hangs.
      script: { takesMs: ({ what }) => (what === 'send' ? 100 : 0) },
    });
    workshop.put('fast');
    const working = workshop.start();
    await workshop.untilAcked(1);
    workshop.put('hangs', 'waits', 'waits too');
    expect(await workshop.clock.passUntilSettled(working)).toEqual({ why: 'hung' });
    expect(workshop.idsIn('x-sink')).toEqual(['hangs']);
    expect(workshop.idsIn('score').toSorted()).toEqual(['waits', 'waits too']);
    expect(workshop.runtime.calls.map(({ envelope }) => envelope.id)).toEqual(['fast', 'hangs']);
  });
});

describe('a bug', () => {
  it('is thrown after deliveries in flight are settled', async () => {
    const workshop = aWorkshop({
      concurrency: 3,
      end: async (id, clock) => {
        if (id === 'bug') throw new Error('a bug');
        return valueAfter(clock, 5_000);
      },
    });
    workshop.put('e-1', 'bug', 'e-3');
    const working = workshop.start();
    await expect(workshop.clock.passUntilSettled(working)).rejects.toThrow('a bug');
    expect(workshop.idsIn('store')).toEqual(['e-1', 'e-3']);
    expect(workshop.idsIn('score')).toEqual(['bug']);
    expect(workshop.elapsedMs()).toBe(5_000);
  });

  it('during a call releases its slot', async () => {
    const workshop = aWorkshop({
      end: (id) => {
        if (id === 'bug') throw new Error('a bug');
        return VALUE;
      },
    });
    workshop.put('fast');
    const working = workshop.start();
    await workshop.untilAcked(1);
    workshop.put('bug', 'waits', 'waits too');
    await expect(workshop.clock.passUntilSettled(working)).rejects.toThrow('a bug');
    expect(workshop.transport.operationsOf('nack').map((one) => [idOf(one), one.afterMs])).toEqual([
      ['waits', 0],
      ['waits too', 0],
    ]);
  });

  it('in a send is thrown too, and waiting deliveries are released', async () => {
    const workshop = aWorkshop({
      wrap: (transport) => ({
        ...transport,
        send: async (queue, body) => {
          if (idOf({ body }) === 'bug') throw new Error('a bug');
          return transport.send(queue, body);
        },
      }),
    });
    workshop.put('fast');
    const working = workshop.start();
    await workshop.untilAcked(1);
    workshop.put('bug', 'waits');
    await expect(workshop.clock.passUntilSettled(working)).rejects.toThrow('a bug');
    expect(workshop.idsIn('score')).toContain('bug');
  });
});
