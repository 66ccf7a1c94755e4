import type { AttributeValue } from '@aws-sdk/client-dynamodb';
import { number, text } from './table.ts';

/** The end of a page of `by-owner`, as text for the client. It does not contain the owner: that is always the caller. */
export function textFromCursor(next: Readonly<Record<string, unknown>>): string {
  const { pk, seen_ms } = next as Record<string, AttributeValue>;
  return Buffer.from(JSON.stringify([pk?.S, Number(seen_ms?.N)])).toString('base64url');
}

/** Undefined if the text is not a cursor of `textFromCursor`. */
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
