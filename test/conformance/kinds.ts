import { basename } from 'node:path';

export type Kind =
  | 'decisions'
  | 'decode'
  | 'delays'
  | 'durations'
  | 'pipeline'
  | 'config-errors'
  | 'config-good';

type Fields = Readonly<Record<string, unknown>>;

/** How to recognize a case of each kind. */
const MARKS: readonly (readonly [Kind, (first: Fields) => boolean])[] = [
  ['decisions', (first) => 'envelope' in first && 'outcome' in first],
  ['decode', (first) => ('body' in first || 'bodyBase64' in first) && 'expect' in first],
  ['delays', (first) => 'policy' in first && 'expectMs' in first],
  ['pipeline', (first) => 'retryCount' in first && 'expect' in first],
  ['config-errors', (first) => 'env' in first && 'mentions' in first],
  ['config-good', (first) => 'env' in first],
];

/** The kind by content, or by name if the file is empty. */
export function kindOf(path: string, content: unknown): Kind | undefined {
  if (isFields(content) && ('good' in content || 'bad' in content)) return 'durations';
  const first: unknown = Array.isArray(content) ? content[0] : undefined;
  const byContent = isFields(first) ? MARKS.find(([, hasMark]) => hasMark(first))?.[0] : undefined;
  const name = basename(path, '.json');
  const byName = MARKS.find(([kind]) => name.startsWith(kind))?.[0];
  return byContent ?? (Array.isArray(content) && content.length === 0 ? byName : undefined);
}

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
