import { type JsonText, readJson } from '../core/text/json-text.ts';

/**
 * The JSON text of a value that a test passes in. Throws a TypeError if the value would arrive as another one: a handler
 * in the mesh never receives a Date, a Map or NaN, so a test must not pass one either.
 */
export function jsonFrom(value: unknown, what: string): JsonText {
  const problem = lossIn(value, what, []);
  if (problem !== undefined)
    throw new TypeError(`${problem}; pass what the handler would receive: JSON, with dates as text`);
  const json = readJson(JSON.stringify(value));
  if (json.kind === 'invalid') throw new TypeError(`${what} cannot be written as JSON`);
  return json.text;
}

/** The first part of a value that does not survive JSON. Undefined: all of it does. */
function lossIn(value: unknown, place: string, parents: readonly unknown[]): string | undefined {
  if (value === undefined) return `${place} is undefined, which JSON cannot represent`;
  if (typeof value === 'number' && !Number.isFinite(value))
    return `${place} is ${value}, which JSON cannot represent`;
  if (typeof value === 'bigint' || typeof value === 'function' || typeof value === 'symbol')
    return `${place} is a ${typeof value}, which JSON cannot represent`;
  if (typeof value !== 'object' || value === null) return undefined;
  if (parents.includes(value)) return `${place} contains itself, which JSON cannot represent`;
  const inside = [...parents, value];
  if (Array.isArray(value)) return firstOf(value, (item, at) => lossIn(item, `${place}[${at}]`, inside));
  if (!isPlain(value)) return `${place} is a ${value.constructor?.name}, which JSON does not keep`;
  // JSON leaves out a property that is undefined, and reading it then gives undefined as well.
  const kept = Object.entries(value).filter(([, one]) => one !== undefined);
  return firstOf(kept, ([name, one]) => lossIn(one, `${place}.${name}`, inside));
}

function firstOf<T>(
  items: readonly T[],
  problemOf: (item: T, at: number) => string | undefined,
): string | undefined {
  for (const [at, item] of items.entries()) {
    const problem = problemOf(item, at);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

/** Also for an object of another realm: some test runners run each file in its own. */
function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}
