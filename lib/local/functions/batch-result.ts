import type { InvocationEnd } from './invocation.ts';

/** Which messages of a batch come again, and why, as Lambda reads it out of the end of an invocation. */
export interface BatchResult {
  readonly failed: ReadonlySet<string>;
  /** Undefined where the function itself named those that failed, or none did. */
  readonly problem?: string;
}

const NONE: BatchResult = { failed: new Set() };

/**
 * No answer, an empty one and an empty list are a success. A list with an id that is missing, empty or not of this
 * batch is no list: everything comes again, as after an error.
 */
export function batchResult(end: InvocationEnd, messageIds: readonly string[]): BatchResult {
  const all = (problem: string): BatchResult => ({ failed: new Set(messageIds), problem });
  if (!end.ok) return all(end.problem);
  const { response } = end;
  if (response === null || response === undefined) return NONE;
  if (typeof response !== 'object' || Array.isArray(response))
    return all(`the answer is ${JSON.stringify(response)}; it must be {"batchItemFailures":[…]} or nothing`);
  const { batchItemFailures: failures } = response as { readonly batchItemFailures?: unknown };
  if (failures === null || failures === undefined) return NONE;
  if (!Array.isArray(failures))
    return all(`batchItemFailures is ${JSON.stringify(failures)}; it must be a list`);
  const failed = new Set<string>();
  for (const failure of failures) {
    const id: unknown = failure?.itemIdentifier;
    if (typeof id !== 'string' || !messageIds.includes(id))
      return all(
        `batchItemFailures holds ${JSON.stringify(failure)}, whose itemIdentifier is no message of the batch`,
      );
    failed.add(id);
  }
  return { failed };
}
