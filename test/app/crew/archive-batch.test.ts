import { describe, expect, it } from 'vitest';
import { aFailed } from '../../core/an-end.ts';
import { anArchiving, aSucceeded, endedOn } from './an-archiving.ts';

/** Succeeded envelopes that x-sink receives together are archived in one object. */

const YES = [true, true, true];
const THREE = ['e-1', 'e-2', 'e-3'].map((id) => aSucceeded(id, { payload: { of: id } }));

describe('envelopes that succeeded', () => {
  it('are archived in one object, each under its own key', async () => {
    const { stores, deliver, recordsOf, archivedOf, textOf } = anArchiving();
    expect(await deliver(...THREE)).toEqual(YES);
    const [[batch, text] = ['', ''], ...others] = stores.objects;
    expect(others).toEqual([]);
    expect(batch).toMatch(/^succeeded\/2026-01-01\/@batches\/[-0-9a-f]{36}\.json$/);
    expect(Object.keys(JSON.parse(text))).toEqual(
      THREE.map(({ id }) => `succeeded/2026-01-01/score/${id}.json`),
    );
    for (const envelope of THREE) {
      expect(await archivedOf(envelope.id)).toEqual([textOf(envelope)]);
      const [record] = await recordsOf(envelope.id);
      expect(record?.archiveKey).toBe(`${batch}#succeeded/2026-01-01/score/${envelope.id}.json`);
    }
  });

  it('have an object of their own if they arrive alone', async () => {
    const { stores, deliver } = anArchiving();
    await deliver(aSucceeded('e-1'));
    expect([...stores.objects.keys()]).toEqual(['succeeded/2026-01-01/score/e-1.json']);
  });

  it('have an object of their own above 64 KB', async () => {
    const { stores, deliver, archivedOf, textOf } = anArchiving();
    const large = aSucceeded('large', { payload: 'x'.repeat(65_536) });
    expect(await deliver(large, ...THREE)).toEqual([true, ...YES]);
    expect([...stores.objects.keys()]).toContain('succeeded/2026-01-01/score/large.json');
    expect(stores.objects.size).toBe(2);
    expect(await archivedOf('large')).toEqual([textOf(large)]);
  });

  it('are archived by day', async () => {
    const { stores, deliver, archivedOf } = anArchiving();
    const days = ['2026-01-01', '2026-01-02', '2026-01-02'];
    expect(await deliver(...days.map((day, at) => aSucceeded(`e-${at}`, endedOn(day))))).toEqual(YES);
    const folders = [...stores.objects.keys()].map((key) => key.slice(0, 'succeeded/2026-01-01'.length));
    expect(folders).toEqual(['succeeded/2026-01-01', 'succeeded/2026-01-02']);
    for (const at of days.keys()) expect(await archivedOf(`e-${at}`)).toEqual([expect.any(String)]);
  });

  it('are all archived if one id ended at two hops', async () => {
    const { deliver, archivedOf, recordsOf } = anArchiving();
    const hops = [0, 1, 2].map((hop) =>
      aSucceeded('e-1', { payload: hop, route: { prev: Array(hop).fill('fetch'), curr: '', next: [] } }),
    );
    expect(await deliver(...hops)).toEqual(YES);
    const payloads = (await archivedOf('e-1')).map((text) => JSON.parse(text ?? '').payload);
    expect(payloads.toSorted()).toEqual([0, 1, 2]);
    expect(new Set((await recordsOf('e-1')).map(({ archiveKey }) => archiveKey)).size).toBe(3);
  });
});

it('an envelope that did not succeed has its own object', async () => {
  const { stores, deliver } = anArchiving();
  expect(await deliver(aFailed(), ...THREE, aFailed({ id: 'e-5' }))).toEqual(Array(5).fill(true));
  expect([...stores.objects.keys()].filter((key) => key.startsWith('failed/'))).toEqual([
    'failed/2026-01-01/score/e-1.json',
    'failed/2026-01-01/score/e-5.json',
  ]);
  expect(stores.objects.size).toBe(3);
});

describe('a second delivery', () => {
  it.each([
    ['of the whole batch', THREE],
    ['of one envelope', THREE.slice(0, 1)],
    ['of some, with another payload', [aSucceeded('e-2', { payload: 'late' }), aSucceeded('e-1')]],
  ])('%s changes nothing', async (_of, again) => {
    const { stores, deliver } = anArchiving();
    await deliver(...THREE);
    const before = [...stores.objects];
    expect(await deliver(...again)).toEqual(again.map(() => true));
    expect([...stores.objects]).toEqual(before);
  });

  it('together with new envelopes adds only these', async () => {
    const { stores, deliver, archivedOf } = anArchiving();
    await deliver(...THREE);
    await deliver(...THREE, aSucceeded('e-4'), aSucceeded('e-5'));
    const [, second = ''] = [...stores.objects.values()];
    expect(Object.keys(JSON.parse(second))).toEqual(
      ['e-4', 'e-5'].map((id) => `succeeded/2026-01-01/score/${id}.json`),
    );
    expect(await archivedOf('e-5')).toHaveLength(1);
  });

  it('at the same time is archived once', async () => {
    const { stores, deliver, archivedOf } = anArchiving();
    const twenty = Array.from({ length: 20 }, (_, at) => aSucceeded('e-1', { payload: at }));
    expect(await deliver(...twenty)).toEqual(Array(20).fill(true));
    expect(stores.objects.size).toBe(1);
    const [text] = await archivedOf('e-1');
    expect(JSON.parse(text ?? '').payload).toBe(0);
  });
});

describe('with the choice "failed"', () => {
  const fan_out = [{ actor: 'score', hop: 1, items: 3 }];
  const fannedOut = aSucceeded('e-1');
  const status = { ...fannedOut.status, fan_out };
  const ofTask = { headers: { 'x-asya-task': 't-1' } };

  it('an envelope that succeeded leaves a record with its fan-outs, and nothing else', async () => {
    const { stores, deliver, recordsOf } = anArchiving({ archives: 'failed' });
    for (let time = 0; time < 2; time++)
      expect(await deliver({ ...fannedOut, status }, aSucceeded('e-2'))).toEqual([true, true]);
    expect(stores.objects.size).toBe(0);
    const [record] = await recordsOf('e-1');
    expect(record).toMatchObject({ end: 'succeeded', fanOuts: fan_out });
    expect([record, ...(await recordsOf('e-2'))].map((one) => one?.archiveKey)).toEqual([
      undefined,
      undefined,
    ]);
  });

  it.each([
    ['an envelope that failed', aFailed()],
    ['one that was canceled', aFailed({ status: { phase: 'canceled' } })],
    ['the result of a task', aSucceeded('t-1', ofTask)],
  ])('%s is archived', async (_what, envelope) => {
    const { stores, deliver } = anArchiving({ archives: 'failed' });
    expect(await deliver(envelope)).toEqual([true]);
    expect(stores.objects.size).toBe(1);
  });

  it('a fan-out child of a task is not archived', async () => {
    const { stores, deliver } = anArchiving({ archives: 'failed' });
    await deliver(aSucceeded('child', ofTask));
    expect(stores.objects.size).toBe(0);
  });

  it.each(['all', 'failed'] as const)(
    'an end that was recorded with the choice "%s" stays as it is',
    async (before) => {
      const { stores, deliver, recordsOf } = anArchiving({ archives: before });
      await deliver(aSucceeded('e-1'));
      const known = [...stores.objects];
      const [record] = await recordsOf('e-1');
      const after = anArchiving({ ...stores, archives: before === 'all' ? 'failed' : 'all' });
      expect(await after.deliver(aSucceeded('e-1'))).toEqual([true]);
      expect([...stores.objects]).toEqual(known);
      expect(await recordsOf('e-1')).toEqual([record]);
    },
  );
});
