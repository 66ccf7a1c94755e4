import type { BatchResultErrorEntry } from '@aws-sdk/client-sqs';

/** A request with several entries. */
export interface BatchRequest {
  readonly Entries: readonly BatchEntry[];
}

interface BatchEntry {
  readonly Id: string | undefined;
}

/** Entries succeed and fail one by one. */
export interface BatchResult {
  readonly Successful?: readonly BatchEntry[] | undefined;
  readonly Failed?: readonly BatchResultErrorEntry[] | undefined;
}

/** How often an entry is sent at most. */
const MAX_ATTEMPTS = 3;

/**
 * Sends the entries, and again those that failed although they are valid. Rejects like the first request; if a later one
 * rejects, the entries keep their failures.
 */
export async function sendEntries<Entry extends BatchEntry>(
  entries: readonly Entry[],
  send: (entries: readonly Entry[]) => Promise<BatchResult>,
  pause: (attempts: number) => Promise<void>,
): Promise<BatchResult> {
  let result = await send(entries);
  for (let attempts = 1; attempts < MAX_ATTEMPTS; attempts++) {
    const { Successful = [], Failed = [] } = result;
    const worthRetrying = new Set(Failed.flatMap(({ Id, SenderFault }) => (SenderFault ? [] : [Id])));
    if (worthRetrying.size === 0) break;
    await pause(attempts);
    const again = await send(entries.filter(({ Id }) => worthRetrying.has(Id))).catch(() => undefined);
    if (again === undefined) break;
    const isSettled = ({ Id }: BatchEntry) => !worthRetrying.has(Id);
    result = {
      Successful: [...Successful.filter(isSettled), ...(again.Successful ?? [])],
      Failed: [...Failed.filter(isSettled), ...(again.Failed ?? [])],
    };
  }
  return result;
}
