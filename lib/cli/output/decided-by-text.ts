import { FAILED_TEXTS, policyText, RESULT_TEXTS } from '../../core/delivery/event-text.ts';
import type { Envelope } from '../../core/envelope/envelope.ts';
import type { Failure } from '../../core/failure/failure.ts';
import { DEFAULT_POLICY } from '../../core/policy/policy.ts';
import { isFields } from '../../core/text/fields.ts';
import { LIMIT_ERRORS } from './failure-reason.ts';
import { oneLine } from './plain-text.ts';

/** What decided that an envelope failed: a policy and the rule that chose it, or for example admission or a limit. */
export function decidedByText(envelope: Envelope | undefined, failure: Failure): string {
  const { reason, errorType } = failure;
  const by = envelope?.status?.decided_by;
  if (isFields(by)) {
    const policy = choiceText(by['policy'], by['rule']);
    return `${policy}${overrideText(failure, envelope?.status?.max_attempts)}`;
  }
  const known = BY_REASON.get(reason);
  if (known !== undefined) return known;
  if (envelope === undefined) return 'unknown: the envelope cannot be read';
  if (reason !== 'RuntimeError') return 'unknown: the envelope has no status.decided_by';
  return LIMIT_ERRORS.get(errorType) ?? FAILED_TEXTS.runtime_error;
}

function choiceText(policy: unknown, rule: unknown): string {
  const name = oneLine(String(policy), 60);
  return typeof rule === 'number'
    ? policyText({ policy: name, rule })
    : policyText({ policy: name, isBuiltIn: policy !== DEFAULT_POLICY });
}

/** Why the envelope failed although the policy allowed another attempt. */
function overrideText({ reason, attempts }: Failure, maxAttempts: unknown): string {
  if (reason === 'Timeout') return `; ${RESULT_TEXTS.sla_expired}: the retry would have missed the deadline`;
  const hasMore = typeof maxAttempts !== 'number' || attempts < maxAttempts;
  return reason === 'RuntimeError' && hasMore ? `; ${FAILED_TEXTS.retry_send_failed}` : '';
}

/** Reasons that do not involve a policy. */
const BY_REASON: ReadonlyMap<string, string> = new Map([
  ['Timeout', 'the deadline (SLA)'],
  ['ActorTimeout', "the actor's timeout: no rule matched it"],
  ['ParseError', 'admission: the message is not valid JSON'],
  ['ValidationError', 'validation: the envelope, or what the handler returned, is not valid'],
  ['RouteMismatch', 'admission: the envelope reached the wrong actor'],
  ['DeliveryExhausted', 'the broker: received the maximum number of times without an acknowledgement'],
]);
