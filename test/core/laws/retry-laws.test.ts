import fc from 'fast-check';
import { describe, expect } from 'vitest';
import { delayAfterAttempt, delayWithRetryAfter } from '../../../lib/core/policy/policy-delay.ts';
import { instantMs } from '../../../lib/core/text/timestamp.ts';
import { law } from '../law.ts';
import { faults, NEVER } from './arbitraries.ts';
import { type Delivery, deliveries } from './delivery.ts';
import { rulesFor } from './policy-arbitraries.ts';
import {
  isRetried,
  type ProcessedDelivery,
  parsed,
  plansOf,
  policyOf,
  processDelivery,
  processUncached,
} from './process-delivery.ts';

const MIN_LEFT_MS = 1_000;

/** When the sent retry arrives. */
function dueMs({ plan, context }: ProcessedDelivery): number {
  const [retry] = plan.dispatches;
  const notBefore = instantMs(parsed(retry?.body ?? '{}').headers['x-asya-not-before']);
  return notBefore ?? context.now + (retry?.delayMs ?? 0);
}

/** The reason against a retry, computed from the generated values. */
function reasonAgainstRetry(delivery: Delivery, processed: ProcessedDelivery): string | undefined {
  const { written, limits } = delivery;
  const { now } = processed.context;
  const policy = policyOf(processed);
  if (policy === undefined) return 'no policy';
  if (written.attempt >= policy.maxAttempts) return 'attempts used up';
  if (now - written.createdMs > (policy.maxDurationMs ?? NEVER)) return 'maxDuration elapsed';
  if (now - (written.eventMs ?? written.createdMs) > (policy.expireAfterMs ?? NEVER)) return 'expired';
  if (limits.maxDelayMs === 0) return 'no delays supported';
  const retryAfter = delivery.end.kind === 'fault' ? delivery.end.fault.retryAfter : undefined;
  const ownDelayMs = delayAfterAttempt(policy, written.attempt, delivery.random);
  const delayMs = delayWithRetryAfter(policy, ownDelayMs, retryAfter, now);
  return (written.deadlineMs ?? NEVER) - now - delayMs < MIN_LEFT_MS ? 'deadline' : undefined;
}

describe('retries', () => {
  law(
    'retries exactly while attempts, durations and the deadline allow',
    deliveries(faults),
    (delivery) => {
      const processed = processDelivery(delivery);
      expect(isRetried(processed)).toBe(
        processed.outcome.kind === 'called' && reasonAgainstRetry(delivery, processed) === undefined,
      );
      if (!isRetried(processed)) return;
      const { written } = delivery;
      expect((written.deadlineMs ?? NEVER) - dueMs(processed)).toBeGreaterThanOrEqual(MIN_LEFT_MS);
      const { status } = parsed(processed.plan.dispatches[0]?.body ?? '');
      expect(status).toMatchObject({ phase: 'retrying', attempt: written.attempt });
      expect(instantMs(status?.created_at)).toBe(written.createdMs);
    },
    (delivery) => {
      const processed = processDelivery(delivery);
      if (processed.outcome.kind !== 'called') return processed.outcome.kind;
      const why = reasonAgainstRetry(delivery, processed);
      const leftMs = (delivery.written.deadlineMs ?? NEVER) - dueMs(processed);
      return why ?? (leftMs === MIN_LEFT_MS ? 'retried with 1 s left' : 'retried');
    },
    [
      'retried',
      'retried with 1 s left',
      'no policy',
      'attempts used up',
      'maxDuration elapsed',
      'expired',
      'no delays supported',
      'deadline',
    ],
  );

  law(
    "a permanent fault ends within the policy's attempts",
    deliveries({ ...faults, maxDelayMs: fc.constant(NEVER), bodyRoom: fc.constant(undefined) }),
    (delivery) => {
      const { calls, last } = processUntilEnd(delivery);
      expect(isRetried(last)).toBe(false);
      const most = policyOf(processDelivery(delivery))?.maxAttempts ?? 1;
      expect(calls).toBeLessThanOrEqual(Math.max(1, most - delivery.written.attempt + 1));
    },
    (delivery) => {
      const { calls, last } = processUntilEnd(delivery);
      const most = policyOf(processDelivery(delivery))?.maxAttempts;
      const isAllUsed = calls > 1 && calls === most && last.outcome.kind === 'called';
      return [`${calls} calls`, ...(isAllUsed ? ['all attempts used'] : [])];
    },
    ['0 calls', '1 calls', '2 calls', '3 calls', '5 calls', 'all attempts used'],
  );
});

/** Delivers every retry until no retry follows. A policy with only a time limit stops after the first call. */
function processUntilEnd(delivery: Delivery): { calls: number; last: ProcessedDelivery } {
  let current = delivery;
  let last = processDelivery(delivery);
  let calls = last.outcome.kind === 'called' ? 1 : 0;
  const isEndless = policyOf(last)?.maxAttempts === NEVER;
  while (isRetried(last) && calls <= 20) {
    current = { ...current, body: last.plan.dispatches[0]?.body ?? '', now: dueMs(last) };
    last = processUncached(isEndless ? { ...current, end: { kind: 'empty' } } : current);
    if (last.outcome.kind === 'called' && !isEndless) calls++;
  }
  return { calls, last };
}

describe('rules', () => {
  const withMoreRules = fc.tuple(
    deliveries(faults),
    rulesFor(['main', 'default', 'other', 'noRetry', 'nonretryable']),
  );
  const ruleOf = ({ plan }: ProcessedDelivery) => plan.facts.find((fact) => fact.fact === 'policy')?.rule;
  const withRules = (delivery: Delivery, rules: Delivery['actor']['resiliency']['rules']): Delivery => {
    const { resiliency } = delivery.actor;
    return { ...delivery, actor: { ...delivery.actor, resiliency: { ...resiliency, rules } } };
  };

  law(
    'the first matching rule decides',
    withMoreRules,
    ([delivery, more]) => {
      const before = processDelivery(delivery);
      const rule = ruleOf(before);
      if (rule === undefined) return;
      const { rules } = delivery.actor.resiliency;
      const { plan } = processUncached(withRules(delivery, [...rules, ...more]));
      expect(plan).toEqual(before.plan);
      for (const passed of rules.slice(0, rule))
        expect(ruleOf(processUncached(withRules(delivery, [passed])))).toBeUndefined();
    },
    ([delivery, more]) => {
      const rule = ruleOf(processDelivery(delivery));
      if (rule === undefined) return 'no rule';
      const { rules } = delivery.actor.resiliency;
      const laterRules = [...rules.slice(rule + 1), ...more];
      const hasLaterMatch = laterRules.some(
        (later) => ruleOf(processUncached(withRules(delivery, [later]))) === 0,
      );
      return hasLaterMatch ? `rule ${rule} with a later match` : `rule ${rule}`;
    },
    ['no rule', 'rule 0 with a later match', 'rule 1 with a later match', 'rule 2'],
  );
});

describe('refused sends', () => {
  law(
    'a refused retry or resend becomes a failure in x-sink, and if that is refused the delivery is released',
    deliveries(faults),
    (delivery) => {
      const [first, second, third, ...more] = plansOf(processDelivery(delivery).plan);
      expect(more).toEqual([]);
      if (third === undefined) return;
      expect(['retry', 'again']).toContain(first?.dispatches[0]?.type);
      expect(second?.dispatches.map(({ type }) => type)).toEqual(['sink']);
      expect(parsed(second?.dispatches[0]?.body ?? '').status).toMatchObject({
        phase: 'failed',
        reason: 'RuntimeError',
      });
      expect(third.settle).toBe('release');
    },
    (delivery) => `${plansOf(processDelivery(delivery).plan).length} plans`,
    ['2 plans', '3 plans'],
  );
});
