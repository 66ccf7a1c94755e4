/** `T` with every property that may be undefined as an optional one. */
type Defined<T> = {
  [K in keyof T as undefined extends T[K] ? never : K]: T[K];
} & {
  [K in keyof T as undefined extends T[K] ? K : never]?: Exclude<T[K], undefined>;
};

/**
 * A copy without the properties that are undefined, in the same order. Optional properties may not be set to undefined
 * (`exactOptionalPropertyTypes`), so spread the copy: `{ name, ...defined({ timeoutMs, region }) }`.
 */
export function defined<T extends object>(properties: T): Defined<T> {
  const copy: Record<string, unknown> = {};
  for (const key of Object.keys(properties)) {
    const value = properties[key as keyof T];
    if (value !== undefined) copy[key] = value;
  }
  return copy as Defined<T>;
}
