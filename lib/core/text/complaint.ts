const MAX_SHOWN = 120;

/** A text as a complaint shows it: short enough to read. */
export function shown(text: string): string {
  return text.length <= MAX_SHOWN ? text : `${text.slice(0, MAX_SHOWN)}...`;
}

/** Any value, as JSON where JSON can say it. */
export function shownValue(value: unknown): string {
  const isUnsayable = value === undefined || (typeof value === 'number' && !Number.isFinite(value));
  return isUnsayable ? String(value) : shown(JSON.stringify(value));
}

/** How a complaint begins: what came, or that nothing did. */
export function whatCame(value: unknown): string {
  return value === undefined ? 'is missing' : `is ${shownValue(value)}`;
}
