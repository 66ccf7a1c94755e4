import { describe, expect, it } from 'vitest';
import { mistakesIn, python, warningsIn } from './a-mesh.ts';

const ACTORS = {
  'quick.yaml': python('quick', 'resiliency: {actorTimeout: 30s}'),
  'slow.yaml': python('slow', 'resiliency: {actorTimeout: 2m}'),
};

function warningsOf(flow: string): readonly string[] {
  return warningsIn({ ...ACTORS, 'flows.yaml': `flows:\n- name: f\n  entrypoint: quick\n${flow}` });
}

describe("a flow's timeout", () => {
  it('gives one warning if it is below the slowest actor', () => {
    expect(warningsOf('  route_next: [slow, quick]\n  timeout: 119')).toEqual([
      'flows.yaml:5:3 flows[0].timeout: is 119 (1m59s), below the actorTimeout of "slow" (2m): a call of that actor can never use its whole timeout',
    ]);
  });

  it('gives a warning if it is below the sum of its actors', () => {
    expect(warningsOf('  route_next: [slow, quick]\n  timeout: 179')).toEqual([
      "flows.yaml:5:3 flows[0].timeout: is 179 (2m59s), below the sum of its actors' actorTimeouts, 3m (quick 30s, slow 2m, quick 30s): slow calls can miss it",
    ]);
  });

  it.each(['  route_next: [slow, quick]\n  timeout: 180', '  timeout: 30'])('is fine: %j', (flow) => {
    expect(warningsOf(flow)).toEqual([]);
  });
});

describe('a flow for callers without a timeout', () => {
  it.each([
    ['  mcp: {inputSchema: {}}', 'mcp'],
    ['  a2a: {}', 'a2a'],
    ['  a2a: {}\n  mcp: {inputSchema: {}}', 'mcp'],
  ])('gives a warning: %j', (flow, field) => {
    expect(warningsOf(flow)).toEqual([
      expect.stringMatching(
        new RegExp(
          `^flows\\.yaml:\\d:3 flows\\[0\\]\\.${field}: offers the flow to callers, but the flow has no timeout`,
        ),
      ),
    ]);
  });

  it('gives no warning with a timeout or without callers', () => {
    expect(warningsOf('')).toEqual([]);
    expect(warningsOf('  mcp: {inputSchema: {}}\n  timeout: 30')).toEqual([]);
  });
});

describe('the concurrency of an actor', () => {
  const warningsFor = (scaling: string) => warningsIn({ 'one.yaml': python('one', `scaling: {${scaling}}`) });

  it('gives a warning if its batches are smaller', () => {
    expect(warningsFor('concurrency: 10')).toEqual([
      expect.stringContaining(
        'spec.scaling.concurrency: is 10, but batchSize is 1: a function has at most 1 call at a time; raise batchSize to 10',
      ),
    ]);
    expect(warningsFor('concurrency: 5, batchSize: 4')).toHaveLength(1);
  });

  it.each(['batchSize: 10', 'concurrency: 10, batchSize: 10', 'batchSize: 10, concurrency: 2'])(
    'is fine: %s',
    (scaling) => {
      expect(warningsFor(scaling)).toEqual([]);
    },
  );
});

describe('warnings', () => {
  it('are reported together with mistakes', () => {
    const texts = {
      ...ACTORS,
      'flows.yaml':
        'flows:\n- {name: f, entrypoint: quick, a2a: {}}\n- {name: g, entrypoint: slow, timeout: 2}\n',
    };
    expect(mistakesIn(texts)).toEqual([]);
    expect(warningsIn(texts)).toHaveLength(2);
    const wrong = { ...texts, 'wrong.yaml': python('wrong', 'next: [missing]') };
    expect(mistakesIn(wrong)).toHaveLength(1);
    expect(warningsIn(wrong)).toHaveLength(2);
  });

  it('are not given for an actor outside of flows', () => {
    expect(warningsIn({ ...ACTORS, 'single.yaml': python('single') })).toEqual([]);
  });
});
