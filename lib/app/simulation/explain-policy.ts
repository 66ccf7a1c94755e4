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
import type { Delivered } from './simulated-delivery.ts';
import type { By, Decision, Delay } from './simulation.ts';

type PolicyFact = Extract<Fact, { fact: 'policy' }>;

/** The policy that a fact names, and which of the rule's words took the fault. */
export function policyBehind(
  { policy: name, rule }: PolicyFact,
  { resiliency }: Actor,
  fault: Fault,
): { readonly by: By; readonly policy: Policy } {
  // Without a rule it is the default, or what a lost runtime has for want of one.
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

/** What the delay before the next attempt is made of. */
export function delayBehind({ attempt, roll, decidedAt }: Delivered, policy: Policy, fault: Fault): Delay {
  const ownMs = delayAfterAttempt(policy, attempt, roll);
  const delayMs = delayWithRetryAfter(policy, ownMs, fault.retryAfter, decidedAt);
  const askedMs = retryAfterMs(fault.retryAfter, decidedAt);
  return delayMs > ownMs && askedMs !== undefined
    ? { delayMs, retryAfterMs: askedMs, hasJitter: false }
    : { delayMs, hasJitter: policy.jitter && ownMs > 0 };
}

/** Which of its limits ran out: the attempts first, as they are looked at first. */
export function exhaustionBehind(
  { attempt, decidedAt }: Delivered,
  by: By,
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
