import { FAILURE_TABLE } from '../../lib/config/plan/failure-table.ts';

/** An item as in the API: `{name: {S: text}}`. */
export type ApiItem = Readonly<Record<string, Readonly<Record<string, unknown>>>>;

/** A write of 1 KB is one unit. */
const UNIT_BYTES = 1_024;
/** What an entry of an index costs besides its attributes. */
const NONE: ApiItem = {};

export interface WriteUnits {
  readonly table: number;
  readonly indexes: number;
}

/**
 * What DynamoDB bills for replacing `before` by `after`: the larger of both, and one write for each index whose entry
 * changes. If the key of an entry changes, the old entry is deleted and a new one is written: two writes.
 */
export function writeUnits(before: ApiItem = NONE, after: ApiItem = NONE): WriteUnits {
  const indexes = FAILURE_TABLE.indexes.map((index) => {
    const names = [index.hash.name, index.range.name];
    const old = names.every((name) => name in before) ? before : undefined;
    const current = names.every((name) => name in after) ? after : undefined;
    if (old === undefined && current === undefined) return 0;
    if (old === undefined || current === undefined) return unitsOf(sizeOf(old ?? current ?? NONE));
    if (JSON.stringify(old) === JSON.stringify(current)) return 0;
    const isMoved = names.some((name) => JSON.stringify(old[name]) !== JSON.stringify(current[name]));
    return isMoved
      ? unitsOf(sizeOf(old)) + unitsOf(sizeOf(current))
      : unitsOf(Math.max(sizeOf(old), sizeOf(current)));
  });
  return {
    table: unitsOf(Math.max(sizeOf(before), sizeOf(after))),
    indexes: indexes.reduce((sum, units) => sum + units, 0),
  };
}

function unitsOf(bytes: number): number {
  return Math.max(1, Math.ceil(bytes / UNIT_BYTES));
}

/** The documented size of an item: names and values in UTF-8, binary decoded, numbers by their digits. */
function sizeOf(item: ApiItem): number {
  return Object.entries(item).reduce(
    (sum, [name, value]) => sum + Buffer.byteLength(name) + valueSize(value),
    0,
  );
}

function valueSize(value: Readonly<Record<string, unknown>>): number {
  const [[type, content] = ['NULL', true]] = Object.entries(value);
  if (type === 'S') return Buffer.byteLength(String(content));
  if (type === 'B') return Buffer.byteLength(String(content), 'base64');
  if (type === 'N') return Math.ceil(String(content).length / 2) + 1;
  if (type === 'M') return 3 + sizeOf(content as ApiItem) + Object.keys(content as ApiItem).length;
  if (type === 'L') return (content as ApiItem[string][]).reduce((sum, one) => sum + 1 + valueSize(one), 3);
  if (type === 'SS') return (content as string[]).reduce((sum, one) => sum + Buffer.byteLength(one), 0);
  return 1;
}
