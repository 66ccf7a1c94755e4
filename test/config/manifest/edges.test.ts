import { describe, expect, it } from 'vitest';
import { type ActorEdges, edgesOf } from '../../../lib/config/plan/edges.ts';
import { manifestOf, python, type Texts } from './a-mesh.ts';

const FLOWS = `
flows:
- {name: one, entrypoint: a, route_next: [b, c]}
- {name: two, entrypoint: b, route_next: [d]}
`;
const NAMES = ['a', 'b', 'c', 'd', 'rescue', 'review'];

/** The mesh of `NAMES` and `FLOWS`, where `a` has these lines in its spec. */
function edgesWith(...spec: readonly string[]): ReadonlyMap<string, ActorEdges> {
  const others = NAMES.slice(1).map((name) => [`${name}.yaml`, python(name)]);
  const texts: Texts = { 'a.yaml': python('a', ...spec), ...Object.fromEntries(others), 'flows.yaml': FLOWS };
  return edgesOf(manifestOf(texts));
}

const some = (...names: readonly string[]) => new Set(names);

describe('the edges between actors', () => {
  it('follow from all flows', () => {
    const edges = edgesWith();
    expect(NAMES.map((name) => [...(edges.get(name)?.successors ?? [])])).toEqual([
      ['b'],
      ['c', 'd'],
      [],
      [],
      [],
      [],
    ]);
  });

  it('include next', () => {
    expect(edgesWith().get('a')).toMatchObject({ successors: some('b'), sendsTo: some('b') });
    expect(edgesWith('next: []').get('a')).toEqual(edgesWith().get('a'));
    expect(edgesWith('next: [d, a]').get('a')).toEqual({
      successors: some('d', 'a', 'b'),
      errorActors: some(),
      escalations: some(),
      sendsTo: some('d', 'a', 'b'),
    });
  });

  it('include the actors that receive failures, and those after them', () => {
    const edges = edgesWith(
      'next: []',
      'resiliency:',
      '  policies:',
      '    default: {onExhausted: [review, c]}',
      '    loud: {onExhausted: {action: escalate, topic: sending-errors}}',
      '    quiet: {onExhausted: {action: drop}}',
      '    plain: {}',
      '  onError: rescue',
    );
    expect(edges.get('a')).toEqual({
      successors: some('b'),
      errorActors: some('review', 'rescue'),
      escalations: some('sending-errors'),
      sendsTo: some('b', 'review', 'rescue'),
    });
    expect(edges.get('review')?.successors).toEqual(some('c'));
    expect(edges.get('rescue')?.successors).toEqual(some());
  });

  it('exist for every actor, but not for the crew', () => {
    const edges = edgesWith('resiliency: {onError: rescue}');
    expect([...edges.keys()]).toEqual(NAMES);
    for (const { sendsTo } of edges.values()) {
      expect([...sendsTo].filter((name) => !NAMES.includes(name))).toEqual([]);
    }
  });
});
