/** How error messages show the value that they received. */

const MAX_EXCERPT_LENGTH = 120;

/** The text itself, or its first 120 characters followed by `...`. */
export function excerpt(text: string): string {
  return text.length <= MAX_EXCERPT_LENGTH ? text : `${text.slice(0, MAX_EXCERPT_LENGTH)}...`;
}

/** The value as JSON. JSON cannot express undefined, NaN and infinities: they are written as JavaScript writes them. */
export function describeValue(value: unknown): string {
  const isNotJson = value === undefined || (typeof value === 'number' && !Number.isFinite(value));
  return isNotJson ? String(value) : excerpt(JSON.stringify(value));
}

/** The beginning of a message about a value: `is missing`, or `is` and the value. */
export function describeReceived(value: unknown): string {
  return value === undefined ? 'is missing' : `is ${describeValue(value)}`;
}
