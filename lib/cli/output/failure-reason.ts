import { attemptText, FAILED_TEXTS, reasonText } from '../../core/delivery/event-text.ts';
import type { Envelope } from '../../core/envelope/envelope.ts';
import { errorOf } from '../../core/failure/failure.ts';

/** Errors that no policy decides about. */
export const LIMIT_ERRORS: ReadonlyMap<string, string> = new Map([
  ['HopBudgetExceeded', 'admission: the envelope passed the maximum number of actors (ASYA_MAX_HOPS)'],
  ['PayloadTooLarge', "a size limit: the handler's answer was too large to read or send"],
]);

/** Why an envelope ended: the event, and `status.reason`. Several events have the reason `RuntimeError`. */
export function endReasonText(reason: string, attempts: number | undefined, envelope?: Envelope): string {
  if (reason !== 'RuntimeError' || envelope === undefined) return reasonText(reason);
  const { decided_by: decidedBy, max_attempts: max } = envelope.status ?? {};
  if (decidedBy === undefined) {
    const isLimit = LIMIT_ERRORS.has(errorOf(envelope).type);
    return isLimit ? reason : `${FAILED_TEXTS.runtime_error} (${reason})`;
  }
  const isExhausted = typeof max === 'number' && (attempts ?? 0) >= max;
  return `${isExhausted ? FAILED_TEXTS.policy_exhausted : FAILED_TEXTS.retry_send_failed} (${reason})`;
}

/** "attempt 3 of 3" */
export function attemptOf(attempts: number, envelope: Envelope | undefined): string {
  const max = envelope?.status?.max_attempts;
  return attemptText(attempts, typeof max === 'number' ? max : undefined);
}
