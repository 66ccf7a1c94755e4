import type { Actor } from '../../core/delivery/actor.ts';
import type { Fact } from '../../core/delivery/plan.ts';
import type { Envelope } from '../../core/envelope/envelope.ts';
import type { Fault } from '../../core/envelope/fault.ts';
import {
  BUILT_IN_POLICIES,
  CONNECTION_POLICY,
  DEFAULT_POLICY,
  type Policy,
} from '../../core/policy/policy.ts';
import { delayAfterAttempt, delayWithRetryAfter, retryAfterMs } from '../../core/policy/policy-delay.ts';
import { hasElapsed } from '../../core/policy/policy-exhaustion.ts';
import { matches, patternText } from '../../core/policy/policy-match.ts';
import { defined } from '../../core/text/defined.ts';
import { instantMs } from '../../core/text/timestamp.ts';
import type { ObservedDelivery } from './simulated-delivery.ts';
import type { AppliedPolicy, Decision, Delay } from './simulation.ts';

type PolicyFact = Extract<Fact, { fact: 'policy' }>;

/** The policy that a fact names, and which of the rule's patterns matched the error. */
export function explainMatch(
  { policy: name, rule }: PolicyFact,
  { resiliency }: Actor,
  fault: Fault,
): { readonly by: AppliedPolicy; readonly policy: Policy } {
  // Without a rule it is the default policy, or the built-in one for connection errors if there is no default.
  const isForConnection = rule === undefined && name !== DEFAULT_POLICY;
  const declared = isForConnection ? undefined : resiliency.policies.get(name);
  const policy = declared ?? BUILT_IN_POLICIES.get(name) ?? CONNECTION_POLICY;
  const pattern =
    rule === undefined ? undefined : resiliency.rules[rule]?.errors.find((one) => matches(one, fault));
  const { maxAttempts } = policy;
  const by = {
    policy: name,
    ...defined({ rule }),
    ...(pattern !== undefined && { pattern: patternText(pattern) }),
    isBuiltIn: declared === undefined,
    ...(maxAttempts === Number.POSITIVE_INFINITY ? {} : { maxAttempts }),
  };
  return { by, policy };
}

/** How the delay before the next attempt was computed. */
export function explainDelay(
  { attempt, randomValue, decidedAt }: ObservedDelivery,
  policy: Policy,
  fault: Fault,
): Delay {
  const policyMs = delayAfterAttempt(policy, attempt, randomValue);
  const delayMs = delayWithRetryAfter(policy, policyMs, fault.retryAfter, decidedAt);
  const requestedMs = retryAfterMs(fault.retryAfter, decidedAt);
  return delayMs > policyMs && requestedMs !== undefined
    ? { delayMs, retryAfterMs: requestedMs, hasJitter: false }
    : { delayMs, hasJitter: policy.jitter && policyMs > 0 };
}

/** Which limit was reached. The attempts come first, as in the decision itself. */
export function explainExhaustion(
  { attempt, decidedAt }: ObservedDelivery,
  by: AppliedPolicy,
  policy: Policy,
  envelope: Envelope,
): Decision {
  const { maxAttempts, maxDurationMs, expireAfterMs, onExhausted } = policy;
  const createdAt = instantMs(envelope.status?.created_at) ?? decidedAt;
  const exhausted = {
    kind: 'exhausted',
    by,
    onExhausted,
    reason: String(envelope.status?.reason),
  } as const;
  if (attempt >= maxAttempts) return { ...exhausted, ranOut: 'attempts' };
  return maxDurationMs !== undefined && hasElapsed(maxDurationMs, createdAt, decidedAt)
    ? { ...exhausted, ranOut: 'maxDuration', limitMs: maxDurationMs }
    : {
        ...exhausted,
        ranOut: 'expireAfter',
        ...defined({ limitMs: expireAfterMs }),
      };
}
