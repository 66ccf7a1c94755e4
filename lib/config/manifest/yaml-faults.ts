import { isAlias, isMap, isNode, isScalar, isSeq, type YAMLMap } from 'yaml';
import { suggestion } from '../../core/text/nearest.ts';
import type { Step } from './located-mistake.ts';

/** Something that is valid YAML but not allowed in a manifest. */
export interface YamlFault {
  /** Its position in the text. */
  readonly offset: number;
  readonly path: readonly Step[];
  readonly problem: string;
  /** The position of the first of two duplicate keys. */
  readonly firstOffset?: number;
  /** The rest of the document can still be read. */
  readonly isHarmless: boolean;
}

const MAX_DEPTH = 64;

interface Walk {
  readonly faults: YamlFault[];
  /** The anchors so far. `open` until their node ends: an alias to an open one would contain itself. */
  readonly anchors: Map<string, 'open' | 'closed'>;
}

/** Finds duplicate keys, aliases without an anchor or of themselves, merges of non-maps, and excessive nesting. */
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
  return path.length > MAX_DEPTH ? `is nested deeper than ${MAX_DEPTH} levels` : undefined;
}

function aliasProblem(name: string, anchors: Walk['anchors']): string | undefined {
  switch (anchors.get(name)) {
    case 'closed':
      return undefined;
    case 'open':
      return `is the alias "*${name}" of a node that contains it`;
    case undefined:
      return `is the alias "*${name}", but the anchor "&${name}" is not defined before it${suggestion(name, anchors.keys())}`;
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
      const problem = 'merges something other than a map; expected an alias of a map';
      walk.faults.push({ offset, path: here, problem, isHarmless: false });
    }
    if (firstOffset === undefined) seen.set(name, offset);
    else
      walk.faults.push({ offset, path: here, problem: 'is a duplicate key', firstOffset, isHarmless: true });
    look(value, here, walk);
  }
}

/** An alias of something else is reported when it is expanded. */
function isMergeable(value: unknown): boolean {
  return isMap(value) || isAlias(value) || (isSeq(value) && value.items.every(isMergeable));
}
