import {
  type Document,
  isAlias,
  isCollection,
  isMap,
  isNode,
  isScalar,
  isSeq,
  type Node,
  type Pair,
  type YAMLMap,
} from 'yaml';
import type { Step } from './placed-mistake.ts';

interface Found {
  /** The field's name or the item: where a mistake is told. */
  readonly at: Node | null;
  readonly value: unknown;
}

/** Where the last step of the path stands, or the last one that is there; `start` where none is. */
export function offsetOf(document: Document.Parsed, path: readonly Step[], start: number): number {
  let offset = start;
  let node: unknown = document.contents;
  for (const step of path) {
    const found = stepInto(document, node, step);
    if (found === undefined) break;
    offset = found.at?.range?.[0] ?? offset;
    node = found.value;
  }
  return offset;
}

/** The source of a plain value. */
export function writtenAt(document: Document.Parsed, path: readonly Step[]): string | undefined {
  let node: unknown = document.contents;
  for (const step of path) node = stepInto(document, node, step)?.value;
  const scalar = resolved(document, node);
  return isScalar(scalar) ? scalar.source : undefined;
}

function resolved(document: Document.Parsed, node: unknown): unknown {
  return isAlias(node) ? node.resolve(document) : node;
}

/** Through aliases, and through what `<<` merges in. */
function stepInto(document: Document.Parsed, node: unknown, step: Step): Found | undefined {
  const holder = resolved(document, node);
  if (isSeq(holder)) {
    const item = typeof step === 'number' ? holder.items[step] : undefined;
    return isNode(item) ? { at: item, value: item } : undefined;
  }
  if (!isMap(holder)) return undefined;
  const pair = pairOf(holder, step);
  if (pair !== undefined) return { at: isNode(pair.key) ? pair.key : null, value: pair.value };
  const merged = resolved(document, pairOf(holder, '<<')?.value);
  const sources = isSeq(merged) ? merged.items : isCollection(merged) ? [merged] : [];
  for (const source of sources) {
    const found = stepInto(document, source, step);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** The last of that name: the one that counts where there are two. */
function pairOf(map: YAMLMap, step: Step): Pair | undefined {
  return map.items.findLast(({ key }) => isScalar(key) && key.value === step);
}
