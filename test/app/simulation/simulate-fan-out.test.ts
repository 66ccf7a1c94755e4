import { describe, expect, it } from 'vitest';
import { failing, simulated } from '../a-scenario.ts';

const SPLIT = { items: { score: ['1', '2', '3'] }, next: ['store'] };

describe('a simulated fan-out', () => {
  it('runs its items at the same time', async () => {
    const { timeline, requests } = await simulated({ ...SPLIT, takesMs: { score: 500, store: 2_000 } });
    expect(timeline).toEqual([
      '0s score 1 passes',
      '0.5s store 1 passes',
      '0.5s store 1 passes',
      '0.5s store 1 passes',
      '2.5s x-sink kept',
      '2.5s x-sink kept',
      '2.5s x-sink kept',
    ]);
    expect(requests).toEqual({ sends: 7, receives: 7, deletes: 7 });
  });

  it('ends each item on its own, and the envelope itself as item 0', async () => {
    const { ends, end } = await simulated({
      ...SPLIT,
      takesMs: { store: 1_000 },
      fail: { store: [failing('ValueError', 1)] },
    });
    expect(
      ends.map(({ envelope: { id, parent_id, payload }, end: one }) => [id, parent_id, payload, one]),
    ).toEqual([
      ['e-1', undefined, '1', expect.objectContaining({ atMs: 1_000, went: ['x-sink', 'x-sump'] })],
      [expect.any(String), 'e-1', '2', expect.objectContaining({ atMs: 1_000, phase: 'succeeded' })],
      [expect.any(String), 'e-1', '3', expect.objectContaining({ atMs: 1_000, phase: 'succeeded' })],
    ]);
    expect(end).toMatchObject({ phase: 'failed', errorType: 'ValueError' });
  });

  it('starts when the envelope has been retried', async () => {
    const { timeline, ends } = await simulated({
      ...SPLIT,
      policies: { default: { maxAttempts: 2, initialDelay: '3s' } },
      fail: { score: [failing('ValueError', 1)] },
      takesMs: { score: 1_000 },
    });
    expect(timeline.slice(0, 2)).toEqual(['0s score 1 retries', '4s score 2 passes']);
    expect(ends.map(({ end }) => end.atMs)).toEqual([5_000, 5_000, 5_000]);
  });

  it('ends each item whose send is refused', async () => {
    const { ends } = await simulated({ ...SPLIT, next: ['store', 'nowhere'] });
    expect(ends.map(({ end }) => end)).toEqual(
      Array.from({ length: 3 }, () => expect.objectContaining({ kind: 'released', atMs: 0 })),
    );
  });
});
