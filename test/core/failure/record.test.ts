import { describe, expect, it } from 'vitest';
import { deriveId as hashed } from '../../../lib/adapters/system/system.ts';
import { endActorOf, endOf, isForSump } from '../../../lib/core/envelope/end.ts';
import { recordOf, safeName } from '../../../lib/core/failure/record.ts';
import { defined } from '../../../lib/core/text/defined.ts';
import { anEnvelope, at, deriveId, NOW } from '../a-delivery.ts';
import { A_FAILURE, AN_ERROR, aFailed, aFailedBody, envelopeOf } from '../an-end.ts';

type Fields = Readonly<Record<string, unknown>>;

const identityOf = (changes: Fields = {}, now = NOW) => recordOf(aFailed(changes), now, hashed).identity;
const keyOf = (changes: Fields = {}) => recordOf(aFailed(changes), NOW, deriveId).archiveKey;
const failed = (changes: Fields) => ({ status: { ...A_FAILURE, ...changes } });
const replayed = (replay: unknown) => ({ headers: { 'x-asya-replay': replay } });

describe('the identity of a record', () => {
  it.each<[string, Fields]>([
    ['the id', { id: 'e-2' }],
    ['the phase', failed({ phase: 'succeeded' })],
    ['the actor', failed({ actor: 'store' })],
    ['the hop', { route: { prev: ['fetch', 'other'], curr: 'score', next: ['store'] } }],
    ['the replay', replayed('r-1')],
  ])('differs with %s', (_part, changes) => {
    expect(identityOf(changes)).not.toBe(identityOf());
  });

  it('differs for each of two replays', () => {
    expect(identityOf(replayed('r-1'))).not.toBe(identityOf(replayed('r-2')));
  });

  it.each<[string, Fields]>([
    ['the payload', { payload: { n: 2 } }],
    ['the reason', failed({ reason: 'Timeout' })],
    ['the attempt', failed({ attempt: 7 })],
    ['the times', failed({ created_at: at(-1), updated_at: at(86_400_000) })],
    ['the error', failed({ error: { ...AN_ERROR, message: 'other' } })],
    ['other headers', { headers: { traceparent: 'other', 'x-asya-task': 't' } }],
    ['the names in prev', { route: { prev: ['other'], curr: 'score', next: [] } }],
    ['the parent', { parent_id: 'p-1' }],
    ['unknown keys', { more: 1 }],
    ['a replay header that is not text', replayed(7)],
    ['an empty replay header', replayed('')],
  ])('does not depend on %s', (_what, changes) => {
    expect(identityOf(changes)).toBe(identityOf());
  });

  it('does not depend on the time', () => {
    expect(identityOf({}, NOW + 86_400_000)).toBe(identityOf());
  });

  it('separates its parts', () => {
    expect(identityOf({ id: 'e-1","failed' })).not.toBe(identityOf({ id: 'e-1' }));
  });
});

describe('the archive key of an envelope', () => {
  it.each<[string, Fields, string]>([
    ['failed', {}, 'failed/2026-01-01/score/e-1.json'],
    ['succeeded', failed({ phase: 'succeeded', reason: 'Completed' }), 'succeeded/2026-01-01/score/e-1.json'],
    ['canceled', failed({ phase: 'canceled' }), 'canceled/2026-01-01/score/e-1.json'],
    ['dead-lettered', failed({ reason: 'DeliveryExhausted' }), 'dlq/2026-01-01/score/e-1.json'],
    [
      'succeeded with the reason DeliveryExhausted',
      failed({ phase: 'succeeded', reason: 'DeliveryExhausted' }),
      'succeeded/2026-01-01/score/e-1.json',
    ],
    ['dropped', failed({ reason: 'Dropped' }), 'failed/2026-01-01/score/e-1.json'],
    ['of an unknown phase', failed({ phase: 'paused' }), 'failed/2026-01-01/score/e-1.json'],
    ['without a status', { status: undefined }, 'failed/2026-01-01/score/e-1.json'],
    [
      'by the day in UTC',
      failed({ updated_at: '2026-03-01T00:30:00+02:00' }),
      'failed/2026-02-28/score/e-1.json',
    ],
    [
      'by the current day if updated_at is invalid',
      failed({ updated_at: 'soon' }),
      'failed/2026-01-01/score/e-1.json',
    ],
    [
      'by the current day if updated_at is not text',
      failed({ updated_at: 7 }),
      'failed/2026-01-01/score/e-1.json',
    ],
  ])('%s', (_what, changes, key) => {
    expect(keyOf(changes)).toBe(key);
  });

  it.each<[string, string]>([
    ['a/b', 'a%2Fb'],
    ['a b', 'a%20b'],
    ['.', 'name|.'],
    ['..', 'name|..'],
    ['../../etc', '..%2F..%2Fetc'],
    ['e.1', 'e.1'],
    ['a@2', 'a%402'],
    ['a=r', 'a%3Dr'],
    ['a%2Fb', 'a%252Fb'],
    ['ü', '%C3%BC'],
    ['\ud800', 'name|\ud800'],
    ['n'.repeat(200), 'n'.repeat(200)],
    ['n'.repeat(201), `name|${'n'.repeat(201)}`],
    ['ü'.repeat(34), `name|${'ü'.repeat(34)}`],
  ])('for the id %j', (id, name) => {
    expect(keyOf({ id })).toBe(`failed/2026-01-01/score/${name}.json`);
  });

  it("stays within S3's limits and its folder for any parts", () => {
    const long = '\u{1F600}/'.repeat(5_000);
    const changes = { id: long, ...failed({ actor: long }), ...replayed(long) };
    const { archiveKey } = recordOf(aFailed(changes), NOW, hashed);
    expect(archiveKey.length).toBeLessThan(1_024);
    expect(archiveKey.split('/')).toHaveLength(4);
    expect(recordOf(aFailed(failed({ actor: '..' })), NOW, hashed).archiveKey).not.toContain('..');
  });

  it.each<[string, Fields, string, string]>([
    ['at its hop', {}, 'e-1', 'e-1@1'],
    ['in a replay', replayed('r-1'), 'e-1=r-1', 'e-1@1=r-1'],
    [
      'at a third visit in a replay',
      { route: { prev: ['score', 'score'], curr: 'score', next: [] }, ...replayed('r/1') },
      'e-1=r%2F1',
      'e-1@2=r%2F1',
    ],
  ])('%s, and the alternative key', (_what, changes, name, alternative) => {
    const { archiveKey, alternativeKey } = recordOf(aFailed(changes), NOW, deriveId);
    expect(archiveKey).toBe(`failed/2026-01-01/score/${name}.json`);
    expect(alternativeKey).toBe(`failed/2026-01-01/score/${alternative}.json`);
  });

  it('differs from that of an envelope with a similar id', () => {
    const ids = ['e-1', 'e-1.2', 'e-1@1', 'e-1=2', 'e-1.r', 'e-1%401'];
    const keys = [{}, replayed('2')].flatMap((more) =>
      ids.flatMap((id) => {
        const { archiveKey, alternativeKey } = recordOf(aFailed({ id, ...more }), NOW, deriveId);
        return [archiveKey, alternativeKey];
      }),
    );
    expect(new Set(keys).size).toBe(keys.length);
  });

  const placeOf = (changes: Fields = {}) => recordOf(aFailed(changes), NOW, hashed).place;

  it.each<[string, Fields]>([
    ['the hop', { route: { prev: ['fetch', 'other'], curr: 'score', next: ['store'] } }],
    ['the day', failed({ updated_at: at(86_400_000) })],
    ['the reason', failed({ reason: 'DeliveryExhausted' })],
  ])('has a place that does not depend on %s', (_part, changes) => {
    expect(placeOf(changes)).toBe(placeOf());
  });

  it.each<[string, Fields]>([
    ['the id', { id: 'e-2' }],
    ['the phase', failed({ phase: 'succeeded' })],
    ['the actor', failed({ actor: 'store' })],
    ['the replay', replayed('r-1')],
  ])('has a place that differs with %s', (_part, changes) => {
    expect(placeOf(changes)).not.toBe(placeOf());
  });
});

describe('an end', () => {
  it.each<[string, Fields | undefined, string, boolean]>([
    ['succeeded', { phase: 'succeeded' }, 'succeeded', false],
    ['canceled', { phase: 'canceled' }, 'canceled', false],
    ['failed', { phase: 'failed', reason: 'Timeout' }, 'failed', true],
    ['escalated', { phase: 'failed', reason: 'Escalated' }, 'failed', true],
    ['dropped', { phase: 'failed', reason: 'Dropped' }, 'failed', false],
    ['in the middle of the route', { phase: 'retrying' }, 'failed', true],
    ['with an unknown phase', { phase: 7 }, 'failed', true],
    ['without a status', undefined, 'failed', true],
  ])('%s', (_what, status, end, goesToSump) => {
    const envelope = envelopeOf(anEnvelope(defined({ status })));
    expect([endOf(envelope), isForSump(envelope)]).toEqual([end, goesToSump]);
  });

  it.each<[string, Fields, string]>([
    ['that the status names', {}, 'score'],
    ['in route.curr otherwise', { status: { phase: 'failed' } }, 'score'],
    [
      'at the end of route.prev otherwise',
      { status: { phase: 'failed', actor: '' }, route: { prev: ['a', 'b'], curr: '', next: [] } },
      'b',
    ],
    ['"unknown" otherwise', { status: { actor: 7 }, route: { prev: [], curr: '', next: [] } }, 'unknown'],
  ])('is at the actor %s', (_what, changes, actor) => {
    expect(endActorOf(envelopeOf(aFailedBody(changes)))).toBe(actor);
  });

  it('has a record with only the values of the envelope', () => {
    expect(recordOf(aFailed(replayed('r-1')), NOW, deriveId)).toStrictEqual({
      identity: 'record|e-1|failed|score|1|r-1',
      envelopeId: 'e-1',
      end: 'failed',
      actor: 'score',
      hop: 1,
      attempts: 3,
      reason: 'PolicyExhausted',
      replay: 'r-1',
      atMs: NOW,
      archiveKey: 'failed/2026-01-01/score/e-1=r-1.json',
      place: 'place|e-1|failed|score|r-1',
      alternativeKey: 'failed/2026-01-01/score/e-1@1=r-1.json',
    });
    expect(recordOf(aFailed(failed({ reason: 7 })), NOW, deriveId)).toMatchObject({ reason: '' });
    expect(recordOf(aFailed(), NOW, deriveId)).not.toHaveProperty('replay');
    const headers = { 'x-asya-flow': 'scores', 'x-asya-task': 't-1' };
    expect(recordOf(aFailed({ parent_id: 'p-1', headers }), NOW, deriveId)).toMatchObject({
      parentId: 'p-1',
      flow: 'scores',
      task: 't-1',
    });
  });
});

describe('a safe name', () => {
  it.each(['', '.', '...'])('is never %j', (text) => {
    expect(safeName(text, deriveId)).toBe(`name|${text}`);
  });
});
