import { describe, expect, test } from 'vitest';
import { deriveId, systemClock } from '../../../lib/adapters/system/system.ts';
import type { DeliveryLine } from '../../../lib/app/delivery/handle-delivery.ts';
import { handleBatch } from '../../../lib/assembly/hosts/handle-batch.ts';
import type { Dispatch } from '../../../lib/core/delivery/plan.ts';
import { NO_RESILIENCY } from '../../../lib/core/policy/policy.ts';
import { ACCEPTED, type Reply } from '../../../lib/ports/reply.ts';
import type { Telemetry } from '../../../lib/ports/telemetry.ts';
import type { Transport } from '../../../lib/ports/transport.ts';
import { NO_LIMITS } from '../../core/no-limits.ts';
import { recordOf } from '../../functions/sidecar/lambda-process.ts';
import { envelopeAt } from '../../sidecar/envelopes.ts';

/** Cases that no event can cause: bugs, and a broker that fails while a record is released. */

interface BatchFixture {
  readonly line: DeliveryLine;
  readonly transport: Transport;
  readonly sent: Dispatch[];
  readonly released: { readonly messageId: string; readonly pauseMs: number }[];
  readonly warnings: string[];
}

function batchFixture(send: (dispatch: Dispatch) => Promise<Reply>, nack: Reply = ACCEPTED): BatchFixture {
  const sent: Dispatch[] = [];
  const released: { messageId: string; pauseMs: number }[] = [];
  const warnings: string[] = [];
  const telemetry: Telemetry = {
    received: () => {},
    began: () => {},
    ended: () => {},
    warn: (what, { problem }) => warnings.push(`${what}: ${problem}`),
    step: () => {},
  };
  const line: DeliveryLine = {
    actor: {
      name: 'score',
      sink: 'x-sink',
      isEnd: false,
      timeoutMs: 1_000,
      maxHops: 100,
      fanOut: 'array',
      resiliency: NO_RESILIENCY,
    },
    limits: NO_LIMITS,
    runtime: {
      restartsItself: true,
      call: async ({ envelope }) => ({ kind: 'frames', frames: [{ payload: envelope.payload }] }),
      interrupt: () => {},
      problem: async () => undefined,
      close: async () => {},
    },
    send: (dispatch) => {
      const reply = send(dispatch);
      sent.push(dispatch);
      return reply;
    },
    clock: systemClock,
    random: () => 0,
    deriveId,
    telemetry,
  };
  const transport = {
    nack: async ({ messageId }: { messageId: string }, pauseMs: number) => {
      released.push({ messageId, pauseMs });
      return nack;
    },
  } as unknown as Transport;
  return { line, transport, sent, released, warnings };
}

const recordFor = (payload: unknown) => recordOf('score', envelopeAt('score', payload));
const batch = (records: ReturnType<typeof recordFor>[], { line, transport }: BatchFixture, concurrency = 1) =>
  handleBatch(records, { line, transport, concurrency, timeLeftMs: () => 60_000 });

describe.each([1, 3])('with a concurrency of %i', (concurrency) => {
  test('an exception fails only its record, and its slot is released', async () => {
    const records = ['a', 'bug', 'b', 'c'].map(recordFor);
    const fixture = batchFixture(({ envelope }) => {
      if (envelope.payload === '"bug"') throw new Error('a bug in a send');
      return Promise.resolve(ACCEPTED);
    });
    const response = await batch(records, fixture, concurrency);
    expect(response).toEqual({ batchItemFailures: [{ itemIdentifier: records[1]?.messageId }] });
    expect(fixture.sent.map(({ envelope }) => envelope.payload)).toEqual(['"a"', '"b"', '"c"']);
    expect(fixture.warnings.join()).toContain('a bug in a send');
  });

  test('an unreadable record fails without affecting the others', async () => {
    const records = ['a', 'b', 'c'].map(recordFor);
    const { eventSourceARN: _missing, ...broken } = records[1] ?? recordFor('b');
    const fixture = batchFixture(async () => ACCEPTED);
    const response = await batch([records[0], broken as never, records[2]] as never, fixture, concurrency);
    expect(response).toEqual({ batchItemFailures: [{ itemIdentifier: broken.messageId }] });
    expect(fixture.sent.length).toBe(2);
  });

  test('a refused send releases the record with a pause that grows with its receive count', async () => {
    const records = [1, 2].map((count) =>
      recordOf('score', envelopeAt('score', count), {
        attributes: { ...recordFor(0).attributes, ApproximateReceiveCount: String(count) },
      }),
    );
    const fixture = batchFixture(async () => ({ ok: false, problem: 'down' }));
    const response = await batch(records, fixture, concurrency);
    expect(response.batchItemFailures.map(({ itemIdentifier }) => itemIdentifier)).toEqual(
      records.map(({ messageId }) => messageId),
    );
    const [first, second] = fixture.released.map(({ pauseMs }) => pauseMs);
    expect(second).toBeGreaterThan(first ?? Number.POSITIVE_INFINITY);
  });

  test('a refused release is logged, and the record fails', async () => {
    const record = recordFor(1);
    const fixture = batchFixture(async () => ({ ok: false, problem: 'down' }), {
      ok: false,
      problem: 'gone',
    });
    expect(await batch([record], fixture, concurrency)).toEqual({
      batchItemFailures: [{ itemIdentifier: record.messageId }],
    });
    expect(fixture.warnings).toContain('a delivery could not be released: gone');
  });
});

describe('the transport is flushed', () => {
  /** Events in order: a call that started, a send that was made, and a flush. */
  function recorded(more: Partial<BatchFixture['line']['runtime']> = {}) {
    const events: string[] = [];
    const replies = new Map<string, PromiseWithResolvers<Reply>>();
    const fixture = batchFixture(({ envelope, type }) => {
      events.push(`send ${type} ${envelope.payload}`);
      const reply = Promise.withResolvers<Reply>();
      replies.set(`${type} ${envelope.payload}`, reply);
      return reply.promise;
    });
    const flush = () => {
      events.push('flush');
      for (const [name, { resolve }] of replies)
        resolve(name === 'next "refused"' ? { ok: false, problem: 'down' } : ACCEPTED);
    };
    const runtime = { ...fixture.line.runtime, ...more };
    const line = { ...fixture.line, runtime };
    return { ...fixture, events, line, transport: { ...fixture.transport, flush } };
  }
  const onTheWay = (payload: string) =>
    recordOf('score', envelopeAt('score', payload, { route: { prev: [], curr: 'score', next: ['store'] } }));

  test('once, after the last record of the batch has made its sends', async () => {
    const fixture = recorded({ capacity: () => 3 });
    const records = ['a', 'b', 'c'].map(onTheWay);
    expect(await batch(records, fixture)).toEqual({ batchItemFailures: [] });
    const sends = ['a', 'b', 'c'].map((name) => `send next "${name}"`);
    // Each record that is done has nothing more to send.
    expect(fixture.events.slice(0, 4)).toEqual([...sends, 'flush']);
  });

  test('again for what is sent because a send was refused, and for releases', async () => {
    const fixture = recorded({ capacity: () => 2 });
    const records = ['a', 'refused'].map(onTheWay);
    const response = await batch(records, fixture);
    expect(fixture.events.slice(0, 3)).toEqual(['send next "a"', 'send next "refused"', 'flush']);
    expect(response.batchItemFailures).toEqual([{ itemIdentifier: records[1]?.messageId }]);
    expect(fixture.released).toHaveLength(1);
    expect(fixture.events.filter((event) => event === 'flush').length).toBeGreaterThan(1);
  });

  test('although a record fails with a bug', async () => {
    const fixture = recorded({
      capacity: () => 2,
      call: async ({ envelope }) => {
        if (envelope.payload === '"bug"') throw new Error('a bug');
        return { kind: 'frames', frames: [{ payload: envelope.payload }] };
      },
    });
    const records = ['a', 'bug'].map(onTheWay);
    expect(await batch(records, fixture)).toEqual({
      batchItemFailures: [{ itemIdentifier: records[1]?.messageId }],
    });
  });
});
