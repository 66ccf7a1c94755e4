import type { Fault } from '../envelope/fault.ts';
import type { Policy } from '../policy/policy.ts';
import { delayAfterAttempt } from '../policy/policy-delay.ts';
import { hasElapsed } from '../policy/policy-exhaustion.ts';
import { matches, patternFromText } from '../policy/policy-match.ts';

/** The decisions of the error module for Pub/Sub pipelines: the same policy engine, with its own patterns and schedule. */

export interface PipelineSettings {
  /** The delay before each retry, in seconds: `[1, 1, 2, 3, 7, 30]`. An empty list means no retries. */
  readonly delaysSeconds: readonly number[];
  /** How long after its event time a message expires. An expired message is not retried. */
  readonly expireAfterHours: number;
}

export const PIPELINE_DEFAULTS: PipelineSettings = {
  delaysSeconds: [1, 1, 2, 3, 7, 30],
  expireAfterHours: 36,
};
export const DEFAULT_ERRORS_TOPIC = 'sending-mg-errors';

export interface PipelineCase {
  readonly fault: Pick<Fault, 'type' | 'mro' | 'httpStatus'>;
  /** The handler marked the error as part of normal operation: it is not escalated. */
  readonly isNormal: boolean;
  /** Retries already made. */
  readonly retryCount: number;
  readonly eventMs: number;
  readonly now: number;
}

export type PipelineAction =
  | { readonly action: 'retry'; readonly delaySeconds: number; readonly nextCount: number }
  | { readonly action: 'escalate' }
  | { readonly action: 'drop'; readonly escalate: boolean; readonly expired?: true };

const patterns = (...texts: readonly string[]) =>
  texts.map(patternFromText).filter((pattern) => pattern !== undefined);

const PERMANENT = patterns('http:404', 'http:410');
/** The service will recover: when the schedule is exhausted, it starts again. */
const SERVICE_RETRYABLE = patterns('http:423', 'http:429', 'http:500', 'http:502', 'http:503', 'http:504');
const CLIENT_RETRYABLE = patterns('TopicPublishError', 'ClientClosedError');

type MatchableFault = PipelineCase['fault'];

/** Whether the error's type is retryable without an HTTP status. */
export function isClientRetryable(fault: MatchableFault): boolean {
  return isAnyOf(CLIENT_RETRYABLE, fault);
}

function isAnyOf(kind: typeof PERMANENT, fault: MatchableFault): boolean {
  return kind.some((pattern) => matches(pattern, fault));
}

/** Decides whether a failed message is retried, escalated or dropped. */
export function decidePipeline(failed: PipelineCase, settings: PipelineSettings): PipelineAction {
  const { fault, retryCount, eventMs, now, isNormal } = failed;
  const expired: PipelineAction = { action: 'drop', escalate: !isNormal, expired: true };
  const policy = pipelinePolicy(settings);

  if (isAnyOf(PERMANENT, fault)) return { action: 'drop', escalate: false };
  if (hasElapsed(policy.expireAfterMs, eventMs, now)) return expired;
  const isService = isAnyOf(SERVICE_RETRYABLE, fault);
  if (!isService && !isClientRetryable(fault)) return { action: 'escalate' };
  const { length } = settings.delaysSeconds;
  const hasDelayLeft = retryCount < length;
  if (length === 0 || (!hasDelayLeft && !isService)) return expired;
  const made = hasDelayLeft ? Math.max(0, retryCount) : 0;
  const delaySeconds = delayAfterAttempt(policy, made + 1, 0) / 1000;
  return { action: 'retry', delaySeconds, nextCount: made + 1 };
}

/** The settings as a policy of the mesh. */
export function pipelinePolicy(settings: PipelineSettings): Policy & { readonly expireAfterMs: number } {
  return {
    maxAttempts: Number.POSITIVE_INFINITY,
    backoff: { kind: 'schedule', delaysMs: settings.delaysSeconds.map((seconds) => seconds * 1000) },
    expireAfterMs: settings.expireAfterHours * 3_600_000,
    jitter: false,
    onExhausted: { action: 'drop' },
    exhaustedReason: 'PolicyExhausted',
  };
}
