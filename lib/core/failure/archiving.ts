import { endOf } from '../envelope/end.ts';
import type { Envelope } from '../envelope/envelope.ts';
import { headerText, TASK } from '../envelope/headers.ts';

/**
 * Which envelopes an environment archives. `failed` leaves out those that succeeded, unless they are the result of a
 * task at the gateway.
 */
export type ArchiveChoice = 'all' | 'failed';

/**
 * How an envelope is archived: in an object of its own, in a batch with others, or not at all. An envelope that did not
 * succeed has its own object, so that an operator finds it by its key and can delete it.
 */
export type Archiving = 'alone' | 'batched' | 'never';

export function archivingOf(envelope: Envelope, choice: ArchiveChoice): Archiving {
  if (endOf(envelope) !== 'succeeded') return 'alone';
  return choice === 'all' || isTaskResult(envelope) ? 'batched' : 'never';
}

/** The payload of a task's own envelope is what its caller asked for. Its fan-out children have other ids. */
function isTaskResult({ id, headers }: Envelope): boolean {
  return headerText(headers, TASK) === id;
}
