import { defined } from './defined.ts';
import { describeReceived, describeValue, excerpt } from './describe-value.ts';
import { isFields } from './fields.ts';
import { type Json, type JsonText, readJson, textFromMembers } from './json-text.ts';

/**
 * JSON Patch (RFC 6902) on JSON text. Values that an operation does not touch keep their bytes, including 64-bit
 * integers. Either all operations of a patch are applied, or none. A problem contains paths but no values, because a
 * payload may be confidential.
 */
export type Patched = { readonly text: JsonText } | { readonly problem: string };

export interface Operation {
  readonly op: (typeof OPS)[number];
  readonly path: readonly string[];
  readonly from?: readonly string[];
  readonly value?: JsonText;
}

const OPS = ['add', 'remove', 'replace', 'move', 'copy', 'test'] as const;
const PATH_RULE = 'expected a JSON Pointer such as "/a/0/b"';

export type PatchReading = { readonly patch: readonly Operation[] } | { readonly problem: string };

/** Parses a patch. If it is invalid, the problem names the operation, counted from 1. */
export function readPatch(text: string): PatchReading {
  const json = readJson(text);
  if (json.kind !== 'array')
    return {
      problem: `expected a JSON array like [{"op":"replace","path":"/n","value":1}], received ${excerpt(text)}`,
    };
  const operations: Operation[] = [];
  for (const [index, item] of json.items.entries()) {
    const operation = readOperation(item);
    if (typeof operation === 'string')
      return { problem: `operation ${index + 1} of the patch: ${operation}` };
    operations.push(operation);
  }
  return { patch: operations };
}

function readOperation(text: JsonText): Operation | string {
  const json = readJson(text);
  const fields: unknown = JSON.parse(text);
  if (json.kind !== 'object' || !isFields(fields)) return `expected an object, received ${excerpt(text)}`;
  const { op } = fields;
  if (!OPS.includes(op as Operation['op']))
    return `op ${describeReceived(op)}; expected one of ${OPS.join(', ')}`;
  const path = pointerOf(fields['path']);
  if (path === undefined) return `path ${describeReceived(fields['path'])}; ${PATH_RULE}`;
  const needsFrom = op === 'move' || op === 'copy';
  const from = needsFrom ? pointerOf(fields['from']) : undefined;
  if (needsFrom && from === undefined) return `from ${describeReceived(fields['from'])}; ${PATH_RULE}`;
  const needsValue = op === 'add' || op === 'replace' || op === 'test';
  const value = needsValue ? json.members.get('value') : undefined;
  if (needsValue && value === undefined) return `value is missing`;
  return {
    op: op as Operation['op'],
    path,
    ...defined({ from, value }),
  };
}

function pointerOf(value: unknown): readonly string[] | undefined {
  if (value === '') return [];
  if (typeof value !== 'string' || !value.startsWith('/') || /~(?![01])/.test(value)) return undefined;
  return value
    .slice(1)
    .split('/')
    .map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'));
}

export function applyPatch(text: JsonText, patch: readonly Operation[]): Patched {
  let current = text;
  for (const [index, operation] of patch.entries()) {
    const next = applyOperation(current, operation);
    if ('problem' in next)
      return { problem: `operation ${index + 1} of the patch (${operation.op}): ${next.problem}` };
    current = next.text;
  }
  return { text: current };
}

function applyOperation(text: JsonText, { op, path, from = [], value }: Operation): Patched {
  switch (op) {
    case 'add':
      return put(text, path, value as JsonText, 'add');
    case 'replace':
      return put(text, path, value as JsonText, 'replace');
    case 'remove':
      return remove(text, path);
    case 'test': {
      const found = find(text, path);
      if ('problem' in found) return found;
      return isSame(found.text, value as JsonText)
        ? { text }
        : { problem: `${placeOf(path)} has a different value` };
    }
    case 'copy': {
      const found = find(text, from);
      return 'problem' in found ? found : put(text, path, found.text, 'add');
    }
    case 'move': {
      const found = find(text, from);
      if ('problem' in found) return found;
      if (path.length > from.length && from.every((step, index) => step === path[index]))
        return { problem: `${placeOf(from)} cannot be moved into itself` };
      const without = remove(text, from);
      return 'problem' in without ? without : put(without.text, path, found.text, 'add');
    }
  }
}

function find(text: JsonText, path: readonly string[]): Patched {
  let current = text;
  for (const [depth, step] of path.entries()) {
    const inner = childOf(readJson(current) as Json, step);
    if (inner === undefined) return { problem: `there is nothing at ${placeOf(path.slice(0, depth + 1))}` };
    current = inner;
  }
  return { text: current };
}

function childOf(json: Json, step: string): JsonText | undefined {
  if (json.kind === 'object') return json.members.get(step);
  return json.kind === 'array' && isIndex(step) ? json.items[Number(step)] : undefined;
}

function isIndex(step: string): boolean {
  return /^(?:0|[1-9]\d*)$/.test(step);
}

function put(text: JsonText, path: readonly string[], value: JsonText, how: 'add' | 'replace'): Patched {
  return within(text, path, (json, step, place) => {
    if (step === undefined) return { text: value };
    if (how === 'replace' && childOf(json, step) === undefined)
      return { problem: `there is nothing at ${place}` };
    if (json.kind === 'object') return { text: textFromMembers(new Map(json.members).set(step, value)) };
    if (json.kind !== 'array')
      return { problem: `${place} cannot be added: its parent is neither an object nor an array` };
    const index = step === '-' ? json.items.length : isIndex(step) ? Number(step) : Number.NaN;
    if (!(index <= json.items.length))
      return { problem: `${place} is not an index of an array of length ${json.items.length}` };
    return { text: arrayText(json.items.toSpliced(index, how === 'replace' ? 1 : 0, value)) };
  });
}

function remove(text: JsonText, path: readonly string[]): Patched {
  return within(text, path, (json, step, place) => {
    if (step === undefined) return { problem: 'the whole payload cannot be removed; use "replace" instead' };
    if (childOf(json, step) === undefined) return { problem: `there is nothing at ${place}` };
    if (json.kind === 'array') return { text: arrayText(json.items.toSpliced(Number(step), 1)) };
    const members = new Map(json.kind === 'object' ? json.members : []);
    members.delete(step);
    return { text: textFromMembers(members) };
  });
}

/** Changes one container. `step` is the key or index in it, or undefined if the path is the whole document. */
type Change = (container: Json, step: string | undefined, place: string) => Patched;

/** Applies the change to the container that the path leads to. Only the containers along the path are written again. */
function within(text: JsonText, path: readonly string[], change: Change): Patched {
  const containers: Json[] = [];
  let current = text;
  for (const [depth, step] of path.slice(0, -1).entries()) {
    const json = readJson(current) as Json;
    const inner = childOf(json, step);
    if (inner === undefined) return { problem: `there is nothing at ${placeOf(path.slice(0, depth + 1))}` };
    containers.push(json);
    current = inner;
  }
  let changed = change(readJson(current) as Json, path.at(-1), placeOf(path));
  for (let depth = containers.length - 1; depth >= 0 && 'text' in changed; depth--) {
    changed = { text: withChild(containers[depth] as Json, path[depth] as string, changed.text) };
  }
  return changed;
}

function withChild(container: Json, step: string, value: JsonText): JsonText {
  return container.kind === 'object'
    ? textFromMembers(new Map(container.members).set(step, value))
    : arrayText((container as Extract<Json, { kind: 'array' }>).items.with(Number(step), value));
}

function arrayText(items: readonly JsonText[]): JsonText {
  return `[${items.join(',')}]` as JsonText;
}

/** Equality as RFC 6902 defines it: numbers are compared by value, and the order of members is ignored. */
function isSame(one: JsonText, other: JsonText): boolean {
  const [left, right] = [readJson(one) as Json, readJson(other) as Json];
  if (left.kind === 'object' && right.kind === 'object') {
    return (
      left.members.size === right.members.size &&
      [...left.members].every(([key, value]) => {
        const match = right.members.get(key);
        return match !== undefined && isSame(value, match);
      })
    );
  }
  if (left.kind === 'array' && right.kind === 'array') {
    return (
      left.items.length === right.items.length &&
      left.items.every((item, index) => isSame(item, right.items[index] as JsonText))
    );
  }
  return left.kind === 'scalar' && right.kind === 'scalar' && isSameScalar(left.text, right.text);
}

function isSameScalar(one: string, other: string): boolean {
  if (one === other) return true;
  const [left, right] = [digitsOf(one), digitsOf(other)];
  return left === undefined || right === undefined ? JSON.parse(one) === JSON.parse(other) : left === right;
}

/** A canonical notation of a number. Comparing floats would treat different integers above 2^53 as equal. */
function digitsOf(text: string): string | undefined {
  const [, sign, whole = '', fraction = '', exponent = '0'] =
    /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([-+]?\d+))?$/.exec(text) ?? [];
  if (sign === undefined) return undefined;
  const digits = `${whole}${fraction}`.replace(/^0+/, '');
  const significant = digits.replace(/0+$/, '');
  if (significant === '') return '0';
  const power = BigInt(exponent) - BigInt(fraction.length) + BigInt(digits.length - significant.length);
  return `${sign}${significant}e${power}`;
}

function placeOf(path: readonly string[]): string {
  return describeValue(path.map((step) => `/${step.replaceAll('~', '~0').replaceAll('/', '~1')}`).join(''));
}
