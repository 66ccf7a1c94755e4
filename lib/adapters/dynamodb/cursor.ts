import type { AttributeValue } from '@aws-sdk/client-dynamodb';
import { number, text } from './table.ts';

/** Where a page of `by-owner` ended, as a text that a client hands back. It names no owner: that is whoever asks. */
export function textFromCursor(next: Readonly<Record<string, unknown>>): string {
  const { pk, seen_ms } = next as Record<string, AttributeValue>;
  return Buffer.from(JSON.stringify([pk?.S, Number(seen_ms?.N)])).toString('base64url');
}

/** Undefined where it is no cursor of ours. */
export function cursorFromText(cursor: string, owner: string): Record<string, AttributeValue> | undefined {
  try {
    const parsed: unknown = JSON.parse(Buffer.from(cursor, 'base64url').toString('utf8'));
    const [pk, seenMs] = Array.isArray(parsed) ? parsed : [];
    if (typeof pk !== 'string' || !pk.startsWith('task#') || !Number.isSafeInteger(seenMs)) return undefined;
    return { pk: text(pk), owner: text(owner), seen_ms: number(Number(seenMs)) };
  } catch {
    return undefined;
  }
}
