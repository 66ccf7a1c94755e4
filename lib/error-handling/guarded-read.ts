/** Reads fields of thrown values, which can be anything: a getter or a proxy may throw. */

/** Undefined if the field is absent or its getter throws. */
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

const MAX_DEPTH = 16;

/** The prototypes, nearest first. Limited, because a proxy can return an endless chain. */
export function prototypesOf(value: unknown): readonly object[] {
  const found: object[] = [];
  try {
    let at = typeof value === 'object' && value !== null ? Object.getPrototypeOf(value) : null;
    while (at !== null && found.length < MAX_DEPTH) {
      found.push(at);
      at = Object.getPrototypeOf(at);
    }
  } catch {
    // A proxy threw: keep what was found before.
  }
  return found;
}

/** The thrown value and its chain of causes, each one once. */
export function withCauses(thrown: unknown): readonly [unknown, ...unknown[]] {
  const chain: [unknown, ...unknown[]] = [thrown];
  for (let at = fieldOf(thrown, 'cause'); chain.length < MAX_DEPTH; at = fieldOf(at, 'cause')) {
    if (at === undefined || at === null || chain.includes(at)) break;
    chain.push(at);
  }
  return chain;
}
