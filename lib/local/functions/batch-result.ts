import type { InvocationEnd } from './invocation.ts';

/** Which messages of a batch failed, as Lambda's event source mapping derives it from an invocation. */
export interface BatchResult {
  readonly failed: ReadonlySet<string>;
  /** Why the whole batch failed. Undefined if the function listed the failed messages, or if none failed. */
  readonly problem?: string;
}

const NONE: BatchResult = { failed: new Set() };

/**
 * No response, an empty response and an empty list mean success. If the list contains an id that is missing, empty or not
 * in this batch, the whole batch fails, as after an error.
 */
export function batchResult(end: InvocationEnd, messageIds: readonly string[]): BatchResult {
  const all = (problem: string): BatchResult => ({ failed: new Set(messageIds), problem });
  if (!end.ok) return all(end.problem);
  const { response } = end;
  if (response === null || response === undefined) return NONE;
  if (typeof response !== 'object' || Array.isArray(response))
    return all(`the response is ${JSON.stringify(response)}; expected {"batchItemFailures":[…]} or nothing`);
  const { batchItemFailures: failures } = response as { readonly batchItemFailures?: unknown };
  if (failures === null || failures === undefined) return NONE;
  if (!Array.isArray(failures))
    return all(`batchItemFailures is ${JSON.stringify(failures)}; expected a list`);
  const failed = new Set<string>();
  for (const failure of failures) {
    const id: unknown = failure?.itemIdentifier;
    if (typeof id !== 'string' || !messageIds.includes(id))
      return all(
        `batchItemFailures contains ${JSON.stringify(failure)}; expected the itemIdentifier of a message in the batch`,
      );
    failed.add(id);
  }
  return { failed };
}
