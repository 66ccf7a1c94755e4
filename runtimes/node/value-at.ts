/**
 * The value at a dotted path, such as `response.status`. Undefined if a part is missing or a getter throws: reading an
 * error's properties must never replace that error.
 */
export function valueAt(source: unknown, path: string): unknown {
  try {
    return path
      .split('.')
      .reduce<unknown>(
        (at, name) => (at === undefined || at === null ? undefined : Reflect.get(Object(at), name)),
        source,
      );
  } catch {
    return undefined;
  }
}
