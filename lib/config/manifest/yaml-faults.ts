import { isAlias, isMap, isNode, isScalar, isSeq, type YAMLMap } from 'yaml';
import { suggestion } from '../../core/text/nearest.ts';
import type { Step } from './placed-mistake.ts';

/** What the grammar of YAML allows and a manifest does not. */
export interface YamlFault {
  /** Where it stands in the text. */
  readonly offset: number;
  readonly path: readonly Step[];
  readonly problem: string;
  /** Where the first of two stands. */
  readonly firstOffset?: number;
  /** The rest of the document can be read all the same. */
  readonly isHarmless: boolean;
}

const DEEPEST = 64;

interface Walk {
  readonly faults: YamlFault[];
  /** Those passed so far; `open` while what they name has not ended, so that an alias to it would hold itself. */
  readonly anchors: Map<string, 'open' | 'closed'>;
}

/** Fields that stand twice, aliases of nothing or of themselves, merges of what is no map, depths nobody writes. */
export function yamlFaults(contents: unknown): readonly YamlFault[] {
  const walk: Walk = { faults: [], anchors: new Map() };
  look(contents, [], walk);
  return walk.faults;
}

function look(node: unknown, path: readonly Step[], walk: Walk): void {
  if (!isNode(node)) return;
  const problem = isAlias(node) ? aliasProblem(node.source, walk.anchors) : depthProblem(path);
  if (problem !== undefined) {
    walk.faults.push({ offset: node.range?.[0] ?? 0, path, problem, isHarmless: false });
  }
  if (isAlias(node) || problem !== undefined) return;
  const { anchor } = node;
  if (anchor !== undefined) walk.anchors.set(anchor, 'open');
  if (isSeq(node)) for (const [index, item] of node.items.entries()) look(item, [...path, index], walk);
  if (isMap(node)) lookIntoMap(node, path, walk);
  if (anchor !== undefined) walk.anchors.set(anchor, 'closed');
}

function depthProblem(path: readonly Step[]): string | undefined {
  return path.length > DEEPEST ? `is nested deeper than ${DEEPEST} levels` : undefined;
}

function aliasProblem(name: string, anchors: Walk['anchors']): string | undefined {
  switch (anchors.get(name)) {
    case 'closed':
      return undefined;
    case 'open':
      return `is the alias "*${name}" of what holds it, without end`;
    case undefined:
      return `is the alias "*${name}", and no "&${name}" stands before it${suggestion(name, anchors.keys())}`;
  }
}

function lookIntoMap(map: YAMLMap, path: readonly Step[], walk: Walk): void {
  const seen = new Map<string, number>();
  for (const { key, value } of map.items) {
    if (!isScalar(key)) continue;
    const name = String(key.value);
    const here = [...path, name];
    const offset = key.range?.[0] ?? 0;
    const firstOffset = seen.get(name);
    if (key.anchor !== undefined) walk.anchors.set(key.anchor, 'closed');
    if (name === '<<' && !isMergeable(value)) {
      const problem = 'merges what is no map; it takes an alias of one';
      walk.faults.push({ offset, path: here, problem, isHarmless: false });
    }
    if (firstOffset === undefined) seen.set(name, offset);
    else walk.faults.push({ offset, path: here, problem: 'stands twice', firstOffset, isHarmless: true });
    look(value, here, walk);
  }
}

/** An alias of something else is found when it is unfolded. */
function isMergeable(value: unknown): boolean {
  return isMap(value) || isAlias(value) || (isSeq(value) && value.items.every(isMergeable));
}
