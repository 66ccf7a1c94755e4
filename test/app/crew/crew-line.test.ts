import { describe, expect, it } from 'vitest';
import type { Actor, Crew } from '../../../lib/core/delivery/actor.ts';
import { measurementsOfDelivery } from '../../../lib/core/delivery/metrics.ts';
import { at } from '../../core/a-delivery.ts';
import { A_FAILURE, aFailedBody } from '../../core/an-end.ts';
import { type Handling, handling } from '../a-handling.ts';

/** What the crew sends, settles and reports after its work succeeded or failed. */

const crew = (name: string, role: Crew): Partial<Actor> => ({ name, isEnd: true, crew: role });
const SINK = crew('x-sink', { role: 'sink', sump: 'my-sump' });
const SUMP = crew('x-sump', { role: 'sump' });
const DLQ = crew('x-dlq', { role: 'dlq', queuePrefix: '' });

const DONE: Handling = { end: { kind: 'empty' } };
const REFUSED: Handling = {
  end: { kind: 'fault', fault: { type: 'StorageError', mro: [], message: 'down', traceback: '' } },
};
const early = aFailedBody({ headers: { 'x-asya-not-before': at(60_000) } });

describe('x-sink', () => {
  it('forwards failed envelopes to the configured x-sump, and acknowledges', async () => {
    const { sends, settle, report } = await handling({ ...DONE, actor: SINK, body: aFailedBody() });
    expect(sends.map(({ to, type, delayMs }) => [to, type, delayMs])).toEqual([['my-sump', 'sump', 0]]);
    expect(sends[0]?.envelope.status).toEqual(A_FAILURE);
    expect(settle).toBe('ack');
    expect(report.facts).toEqual([
      { fact: 'result', result: 'end_consumed' },
      { fact: 'sent', to: 'my-sump', type: 'sump' },
    ]);
  });

  it('neither sends nor acknowledges if archiving fails', async () => {
    const { sends, settle, report } = await handling({ ...REFUSED, actor: SINK, body: aFailedBody() });
    expect([sends, settle, report.problem]).toEqual([[], 'release', 'StorageError: down']);
  });

  it('does not acknowledge if the queue of x-sump is missing', async () => {
    const send = () => Promise.resolve({ ok: false, problem: 'no such queue' } as const);
    const { settle, facts } = await handling({ ...DONE, actor: SINK, body: aFailedBody(), send });
    expect([settle, facts]).toEqual(['release', ['transport_error']]);
  });

  it('forwards an unreadable body with its text', async () => {
    const { sends, settle } = await handling({ ...DONE, actor: SINK, body: 'nonsense' });
    expect(sends.map(({ to, envelope }) => [to, envelope.payload])).toEqual([
      ['my-sump', { raw: 'nonsense' }],
    ]);
    expect(settle).toBe('ack');
  });

  it('resends an envelope that is not due yet to its own queue', async () => {
    const { sends, calls } = await handling({ ...DONE, actor: SINK, body: early });
    expect([calls, sends.map(({ to, delayMs }) => [to, delayMs])]).toEqual([[], [['x-sink', 60_000]]]);
  });
});

describe.each([
  ['x-sump', SUMP, 'PolicyExhausted'],
  ['x-dlq', DLQ, 'DeliveryExhausted'],
])('%s', (_name, actor, reason) => {
  const given = { actor, body: aFailedBody(), queue: 'score-dlq', receiveCount: 6 };

  it('sends nothing, acknowledges, and counts the failure by actor and reason', async () => {
    const { sends, settle, report } = await handling({ ...DONE, ...given });
    expect([sends, settle]).toEqual([[], 'ack']);
    expect(report.facts).toContainEqual({ fact: 'failure', actor: 'score', reason });
    const place = { queue: 'q', transport: 'sqs', queueOf: (name: string) => name };
    expect(measurementsOfDelivery(report, place)).toContainEqual({
      name: 'failures_recorded_total',
      labels: { actor: 'score', reason },
      value: 1,
    });
  });

  it('neither acknowledges nor counts a failure that could not be stored', async () => {
    const { sends, settle, report } = await handling({ ...REFUSED, ...given });
    expect([sends, settle]).toEqual([[], 'release']);
    expect(report.facts.map(({ fact }) => fact)).not.toContain('failure');
  });
});

describe('x-dlq', () => {
  it('ignores the due time, because it has no queue to resend to', async () => {
    const { calls, sends, settle } = await handling({ ...DONE, actor: DLQ, body: early });
    expect([calls.length, sends, settle]).toEqual([1, [], 'ack']);
  });

  it.each<[string, Handling]>([
    ['the host has no time left', { timeLeftMs: 1_000 }],
    ['it was interrupted', { end: { kind: 'interrupted' } }],
    ['it took too long', { end: { kind: 'timeout' } }],
  ])('does not acknowledge when %s', async (_when, more) => {
    const { sends, settle } = await handling({ ...DONE, actor: DLQ, body: aFailedBody(), ...more });
    expect([sends, settle]).toEqual([[], 'release']);
  });
});

describe('x-sump', () => {
  it('does not acknowledge a body that it cannot read', async () => {
    const { calls, settle } = await handling({ ...DONE, actor: SUMP, body: 'nonsense' });
    expect([calls, settle]).toEqual([[], 'release']);
  });
});
