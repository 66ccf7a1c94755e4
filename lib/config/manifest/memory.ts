import { describeReceived } from '../../core/text/describe-value.ts';
import type { MistakeCollector } from '../../core/text/mistake.ts';

/** The limits of Lambda. */
const MIN_MB = 128;
const MAX_MB = 10_240;

const UNIT_MB: Readonly<Record<string, number>> = { Mi: 1, Gi: 1024 };

/** `512Mi`, `1.5Gi`, or a number of MB. */
export function readMemoryMb(value: unknown, notes: MistakeCollector): number | undefined {
  const [, count, unit = ''] =
    typeof value === 'string' ? (/^(\d+(?:\.\d+)?)(Mi|Gi)$/.exec(value) ?? []) : [];
  const megabytes = typeof value === 'number' ? value : Number(count) * (UNIT_MB[unit] ?? Number.NaN);
  if (Number.isInteger(megabytes) && megabytes >= MIN_MB && megabytes <= MAX_MB) return megabytes;
  notes.add(
    `${describeReceived(value)}; expected text such as "512Mi" or "1Gi", or a number of MB, from ${MIN_MB} to ${MAX_MB}${memorySuggestion(value)}`,
  );
  return undefined;
}

/** Suggests the valid form of `512`, `512M`, `512 MB` and `1g`. */
function memorySuggestion(value: unknown): string {
  const [, count, unit = ''] =
    /^(\d+)\s*(m|g|)(?:i?b|i)?$/i.exec(typeof value === 'string' ? value : '') ?? [];
  if (count === undefined) return '';
  const right = `${count}${unit.toLowerCase() === 'g' ? 'Gi' : 'Mi'}`;
  return right === value ? '' : `; did you mean "${right}"?`;
}
