/** Reading of what somebody threw: anything may be in it, and looking at it may throw again. */

/** Undefined also where a getter throws: it must not hide the error that it hangs on. */
export function fieldOf(value: unknown, ...path: readonly string[]): unknown {
  try {
    return path.reduce<unknown>(
      (at, name) => (at === undefined || at === null ? undefined : Reflect.get(Object(at), name)),
      value,
    );
  } catch {
    return undefined;
  }
}

export function textOf(value: unknown, ...path: readonly string[]): string | undefined {
  const found = fieldOf(value, ...path);
  return typeof found === 'string' && found !== '' ? found : undefined;
}

const DEEPEST = 16;

/** The prototypes, nearest first; a proxy can make up new ones for ever. */
export function prototypesOf(value: unknown): readonly object[] {
  const found: object[] = [];
  try {
    let at = typeof value === 'object' && value !== null ? Object.getPrototypeOf(value) : null;
    while (at !== null && found.length < DEEPEST) {
      found.push(at);
      at = Object.getPrototypeOf(at);
    }
  } catch {
    // What was found so far is what there is to find.
  }
  return found;
}

/** What was thrown, then its cause, then the cause of that; each one once. */
export function withCauses(thrown: unknown): readonly [unknown, ...unknown[]] {
  const chain: [unknown, ...unknown[]] = [thrown];
  for (let at = fieldOf(thrown, 'cause'); chain.length < DEEPEST; at = fieldOf(at, 'cause')) {
    if (at === undefined || at === null || chain.includes(at)) break;
    chain.push(at);
  }
  return chain;
}
