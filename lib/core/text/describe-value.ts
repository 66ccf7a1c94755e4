const MAX_EXCERPT_LENGTH = 120;

/** A text as a complaint shows it: short enough to read. */
export function excerpt(text: string): string {
  return text.length <= MAX_EXCERPT_LENGTH ? text : `${text.slice(0, MAX_EXCERPT_LENGTH)}...`;
}

/** Any value, as JSON where JSON can say it. */
export function describeValue(value: unknown): string {
  const isUnsayable = value === undefined || (typeof value === 'number' && !Number.isFinite(value));
  return isUnsayable ? String(value) : excerpt(JSON.stringify(value));
}

/** How a complaint begins: what came, or that nothing did. */
export function describeReceived(value: unknown): string {
  return value === undefined ? 'is missing' : `is ${describeValue(value)}`;
}
