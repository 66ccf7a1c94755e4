import fc from 'fast-check';
import { describe, expect } from 'vitest';
import { delayAfterAttempt, delayWithRetryAfter } from '../../../lib/core/policy/policy-delay.ts';
import { instantMs } from '../../../lib/core/text/timestamp.ts';
import { law } from '../law.ts';
import { faults, NEVER } from './arbitraries.ts';
import { type Delivery, deliveries } from './delivery.ts';
import { isRetried, type Played, parsed, plansOf, play, playAfresh, policyOf } from './play.ts';
import { rulesFor } from './policy-arbitraries.ts';

const MIN_LEFT_MS = 1_000;

/** When the sent retry arrives. */
function dueMs({ plan, context }: Played): number {
  const [retry] = plan.dispatches;
  const notBefore = instantMs(parsed(retry?.body ?? '{}').headers['x-asya-not-before']);
  return notBefore ?? context.now + (retry?.delayMs ?? 0);
}

/** The reasons against a retry, computed from the generated values. */
function objection(delivery: Delivery, played: Played): string | undefined {
  const { written, limits } = delivery;
  const { now } = played.context;
  const policy = policyOf(played);
  if (policy === undefined) return 'no policy';
  if (written.attempt >= policy.maxAttempts) return 'attempts spent';
  if (now - written.createdMs > (policy.maxDurationMs ?? NEVER)) return 'maxDuration over';
  if (now - (written.eventMs ?? written.createdMs) > (policy.expireAfterMs ?? NEVER)) return 'expired';
  if (limits.maxDelayMs === 0) return 'no delays here';
  const wish = delivery.end.kind === 'fault' ? delivery.end.fault.retryAfter : undefined;
  const ownDelayMs = delayAfterAttempt(policy, written.attempt, delivery.random);
  const delayMs = delayWithRetryAfter(policy, ownDelayMs, wish, now);
  return (written.deadlineMs ?? NEVER) - now - delayMs < MIN_LEFT_MS ? 'deadline' : undefined;
}

describe('retries', () => {
  law(
    'retries exactly while attempts, durations and the deadline allow',
    deliveries(faults),
    (delivery) => {
      const played = play(delivery);
      expect(isRetried(played)).toBe(
        played.outcome.kind === 'called' && objection(delivery, played) === undefined,
      );
      if (!isRetried(played)) return;
      const { written } = delivery;
      expect((written.deadlineMs ?? NEVER) - dueMs(played)).toBeGreaterThanOrEqual(MIN_LEFT_MS);
      const { status } = parsed(played.plan.dispatches[0]?.body ?? '');
      expect(status).toMatchObject({ phase: 'retrying', attempt: written.attempt });
      expect(instantMs(status?.created_at)).toBe(written.createdMs);
    },
    (delivery) => {
      const played = play(delivery);
      if (played.outcome.kind !== 'called') return played.outcome.kind;
      const why = objection(delivery, played);
      const leftMs = (delivery.written.deadlineMs ?? NEVER) - dueMs(played);
      return why ?? (leftMs === MIN_LEFT_MS ? 'retried with 1 s left' : 'retried');
    },
    [
      'retried',
      'retried with 1 s left',
      'no policy',
      'attempts spent',
      'maxDuration over',
      'expired',
      'no delays here',
      'deadline',
    ],
  );

  law(
    "a permanent fault ends within the policy's attempts",
    deliveries({ ...faults, maxDelayMs: fc.constant(NEVER), bodyRoom: fc.constant(undefined) }),
    (delivery) => {
      const { calls, last } = playToTheEnd(delivery);
      expect(isRetried(last)).toBe(false);
      const most = policyOf(play(delivery))?.maxAttempts ?? 1;
      expect(calls).toBeLessThanOrEqual(Math.max(1, most - delivery.written.attempt + 1));
    },
    (delivery) => {
      const { calls, last } = playToTheEnd(delivery);
      const most = policyOf(play(delivery))?.maxAttempts;
      const isAllUsed = calls > 1 && calls === most && last.outcome.kind === 'called';
      return [`${calls} calls`, ...(isAllUsed ? ['every attempt made'] : [])];
    },
    ['0 calls', '1 calls', '2 calls', '3 calls', '5 calls', 'every attempt made'],
  );
});

/** Delivers every retry until there is none. A policy that only time can exhaust stops after the first call. */
function playToTheEnd(delivery: Delivery): { calls: number; last: Played } {
  let current = delivery;
  let last = play(delivery);
  let calls = last.outcome.kind === 'called' ? 1 : 0;
  const isEndless = policyOf(last)?.maxAttempts === NEVER;
  while (isRetried(last) && calls <= 20) {
    current = { ...current, body: last.plan.dispatches[0]?.body ?? '', now: dueMs(last) };
    last = playAfresh(isEndless ? { ...current, end: { kind: 'empty' } } : current);
    if (last.outcome.kind === 'called' && !isEndless) calls++;
  }
  return { calls, last };
}

describe('rules', () => {
  const withMoreRules = fc.tuple(
    deliveries(faults),
    rulesFor(['main', 'default', 'other', 'noRetry', 'nonretryable']),
  );
  const ruleOf = ({ plan }: Played) => plan.facts.find((fact) => fact.fact === 'policy')?.rule;
  const withRules = (delivery: Delivery, rules: Delivery['actor']['resiliency']['rules']): Delivery => {
    const { resiliency } = delivery.actor;
    return { ...delivery, actor: { ...delivery.actor, resiliency: { ...resiliency, rules } } };
  };

  law(
    'the first matching rule decides',
    withMoreRules,
    ([delivery, more]) => {
      const before = play(delivery);
      const rule = ruleOf(before);
      if (rule === undefined) return;
      const { rules } = delivery.actor.resiliency;
      const { plan } = playAfresh(withRules(delivery, [...rules, ...more]));
      expect(plan).toEqual(before.plan);
      for (const passed of rules.slice(0, rule))
        expect(ruleOf(playAfresh(withRules(delivery, [passed])))).toBeUndefined();
    },
    ([delivery, more]) => {
      const rule = ruleOf(play(delivery));
      if (rule === undefined) return 'no rule';
      const { rules } = delivery.actor.resiliency;
      const rivals = [...rules.slice(rule + 1), ...more];
      const hasRival = rivals.some((rival) => ruleOf(playAfresh(withRules(delivery, [rival]))) === 0);
      return hasRival ? `rule ${rule} with a rival after it` : `rule ${rule}`;
    },
    ['no rule', 'rule 0 with a rival after it', 'rule 1 with a rival after it', 'rule 2'],
  );
});

describe('refused sends', () => {
  law(
    'a refused retry or resend becomes a failure in x-sink, and if that is refused the delivery is released',
    deliveries(faults),
    (delivery) => {
      const [first, second, third, ...more] = plansOf(play(delivery).plan);
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
    (delivery) => `${plansOf(play(delivery).plan).length} plans`,
    ['2 plans', '3 plans'],
  );
});
