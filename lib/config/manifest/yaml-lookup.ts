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
import type { Step } from './located-mistake.ts';

interface Found {
  /** The field's name, or the item: the position of a mistake. */
  readonly at: Node | null;
  readonly value: unknown;
}

/** The offset of the last step of the path that exists; `start` if none does. */
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

/** Follows aliases and merges (`<<`). */
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

/** The last pair with this key: of duplicates, the last one counts. */
function pairOf(map: YAMLMap, step: Step): Pair | undefined {
  return map.items.findLast(({ key }) => isScalar(key) && key.value === step);
}
