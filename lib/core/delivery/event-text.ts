import type { Reason } from '../envelope/envelope.ts';
import type { FailedReason, Result } from './plan.ts';

/**
 * The words for what happens to an envelope. The log of `asya dev`, `asya watch`, `asya failures`, `asya runs`,
 * `asya simulate` and docs/metrics.md use them, so that an event has one name everywhere.
 */

/** By the `result` of `messages_total`. */
export const RESULT_TEXTS: Readonly<Record<Result, string>> = {
  success: 'succeeded',
  empty_response: 'returned nothing',
  end_consumed: 'end recorded',
  error: 'call failed',
  retried: 'retried',
  policy_routed: 'routed',
  sla_expired: 'SLA expired',
  escalated: 'escalated',
  dropped: 'dropped',
  canceled: 'canceled',
  deferred: 'not due yet',
  returned: 'resent unchanged',
};

/** By the `reason` of `messages_failed_total`. */
export const FAILED_TEXTS: Readonly<Record<FailedReason, string>> = {
  retry_send_failed: 'the retry could not be sent',
  policy_exhausted: 'exhausted',
  runtime_error: 'no policy matches',
  sla_timeout: RESULT_TEXTS.sla_expired,
  timeout: 'timed out',
  parse_error: 'not valid JSON',
  validation_error: 'not valid',
  route_mismatch: 'wrong actor',
  transport_error: 'a send was refused',
};

/** An envelope that is not covered by any table: it passed too many actors, or an answer was too large. */
const FAILED = 'failed';
/** x-sump or x-dlq added a failure to the index. */
export const FAILURE_RECORDED = 'failure recorded';
/** The broker delivers it again, and finally dead-letters it. */
export const NOT_ACKNOWLEDGED = 'not acknowledged';

/** By `status.reason`. Undefined: several events have this reason. */
const REASON_TEXTS: Readonly<Record<Reason, string | undefined>> = {
  Completed: undefined,
  PolicyExhausted: FAILED_TEXTS.policy_exhausted,
  NonRetryableFailure: FAILED_TEXTS.policy_exhausted,
  PolicyRouted: RESULT_TEXTS.policy_routed,
  RuntimeError: undefined,
  Timeout: RESULT_TEXTS.sla_expired,
  ActorTimeout: FAILED_TEXTS.timeout,
  ParseError: FAILED_TEXTS.parse_error,
  ValidationError: FAILED_TEXTS.validation_error,
  RouteMismatch: FAILED_TEXTS.route_mismatch,
  DeliveryExhausted: 'dead-lettered',
  Dropped: RESULT_TEXTS.dropped,
  Escalated: RESULT_TEXTS.escalated,
};

/** What the facts about a delivery say. */
export interface EventFacts {
  readonly results: readonly string[];
  readonly failed: readonly string[];
  /** Whether a policy decided. */
  readonly hasPolicy: boolean;
}

/** The event that ended a delivery: "retried", "exhausted". */
export function eventText({ results, failed, hasPolicy }: EventFacts): string {
  const [reason] = failed;
  // A connection policy that is exhausted has this reason too.
  if (reason === 'runtime_error' && hasPolicy) return FAILED_TEXTS.policy_exhausted;
  if (reason === 'runtime_error' && !results.includes('error')) return FAILED;
  if (reason !== undefined) return FAILED_TEXTS[reason as FailedReason] ?? reason;
  const result = results.find((one) => one !== 'error') ?? 'error';
  return RESULT_TEXTS[result as Result] ?? result;
}

/** The event, and the reason in the envelope's status: "exhausted (PolicyExhausted)". */
export function reasonText(reason: string): string {
  const text = Object.hasOwn(REASON_TEXTS, reason) ? REASON_TEXTS[reason as Reason] : undefined;
  return text === undefined ? reason : `${text} (${reason})`;
}

/** "attempt 1 of 3". Without a maximum, only time limits the attempts. */
export function attemptText(attempt: number, maxAttempts?: number): string {
  return `attempt ${attempt}${maxAttempts === undefined ? '' : ` of ${maxAttempts}`}`;
}

/** When the next attempt is: "next in 2 s". */
export function nextAttemptText(delayMs: number): string {
  return `next in ${pauseText(delayMs)}`;
}

const UNITS: readonly (readonly [milliseconds: number, unit: string])[] = [
  [3_600_000, 'h'],
  [60_000, 'min'],
  [1_000, 's'],
];

/** "250 ms", "1.5 s", "1 min 30 s" */
export function pauseText(milliseconds: number): string {
  if (milliseconds > 0 && milliseconds < 1_000) return `${Math.round(milliseconds)} ms`;
  let rest =
    milliseconds < 10_000 ? Math.round(milliseconds / 100) * 100 : Math.round(milliseconds / 1_000) * 1_000;
  const parts = UNITS.flatMap(([size, unit]) => {
    const count = unit === 's' ? rest / size : Math.floor(rest / size);
    rest -= count * size;
    return count === 0 ? [] : [`${count} ${unit}`];
  });
  return parts.length === 0 ? '0 s' : parts.join(' ');
}

/** What chose a policy. */
export interface PolicyChoice {
  readonly policy: string;
  /** Index of the rule, from 0. Undefined if no rule matched. */
  readonly rule?: number;
  /** The pattern that matched. Undefined: not known here. */
  readonly pattern?: string;
  /** True if the mesh does not declare this policy. */
  readonly isBuiltIn?: boolean;
}

/** The policy, and the rule that chose it: `rule 2, policy "once"`. Rules are counted from 1. */
export function policyText({ policy, rule, pattern, isBuiltIn = false }: PolicyChoice): string {
  const name = `${isBuiltIn ? 'built-in ' : ''}policy "${policy}"`;
  if (rule !== undefined) return `rule ${rule + 1}${pattern === undefined ? '' : ` (${pattern})`}, ${name}`;
  return `no rule matches, ${name}`;
}
