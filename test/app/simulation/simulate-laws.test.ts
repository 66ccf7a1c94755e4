import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { simulate } from '../../../lib/app/simulation/simulate.ts';
import type { SimulatedEnd } from '../../../lib/app/simulation/simulation.ts';
import type { CallResult } from '../../../lib/core/delivery/outcome.ts';
import { delayAfterAttempt } from '../../../lib/core/policy/policy-delay.ts';
import { defined } from '../../../lib/core/text/defined.ts';
import {
  anEnvelope,
  at,
  faultEnd,
  handle,
  NOW,
  TIMEOUT,
  UNREACHABLE,
  valueEnd,
} from '../../core/a-delivery.ts';
import { policies, rolls, rulesFor } from '../../core/laws/policy-arbitraries.ts';
import { aScenario, failing } from '../a-scenario.ts';

const MAX_DELIVERIES = 300;

const cases = fc.record({
  policy: policies,
  rules: rulesFor(['default', 'noRetry']),
  randomValue: rolls,
  takesMs: fc.constantFrom(0, 1, 400, 1_000, 70_000, 300_001),
  timeoutMs: fc.constantFrom(undefined, 1_000, 5_000, 60_000, 7_200_000),
  times: fc.constantFrom(1, 2, 4, Number.POSITIVE_INFINITY),
  end: fc.constantFrom<CallResult>(faultEnd(), faultEnd({ httpStatus: 503 }), TIMEOUT, UNREACHABLE),
});
type Case = typeof cases extends fc.Arbitrary<infer T> ? T : never;

function actorOf({ policy, rules }: Case) {
  return { resiliency: { policies: new Map([['default', policy]]), rules } };
}

function simulatedFrom(given: Case) {
  const { randomValue, takesMs, timeoutMs, times, end } = given;
  const scenario = aScenario({
    actor: actorOf(given),
    next: ['store'],
    fail: { score: [failing(end, times)] },
    takesMs: { score: takesMs },
    randomValue,
    maxDeliveries: MAX_DELIVERIES,
    ...defined({ timeoutMs }),
  });
  return simulate(scenario);
}

/** A reference simulation that calls decode, admit and decide directly, with a transport without a maximum delay. */
function referenceEnd(given: Case): Pick<
  Extract<SimulatedEnd, { kind: 'ended' }>,
  'atMs' | 'phase' | 'reason'
> & {
  readonly actor: string | undefined;
} {
  const { randomValue, takesMs, timeoutMs, times, end } = given;
  let now = NOW;
  let calls = 0;
  let body = JSON.stringify(
    anEnvelope({
      route: { prev: [], curr: 'score', next: ['store'] },
      status: timeoutMs === undefined ? {} : { deadline_at: at(timeoutMs) },
    }),
  );
  for (let queue = 'score'; ; ) {
    const isScore = queue === 'score';
    const actor = { name: queue, ...(isScore ? actorOf(given) : {}) };
    const { called, timeoutMs: allowedMs = 0 } = handle(body, valueEnd(1), { actor, now });
    const scripted = isScore && called && calls++ < times ? end : valueEnd(1);
    const callEnd = isScore && takesMs > allowedMs ? TIMEOUT : scripted;
    const tookMs = !called ? 0 : callEnd === TIMEOUT ? allowedMs : isScore ? takesMs : 0;
    const { sends } = handle(body, callEnd, { actor, now, later: now + tookMs, random: randomValue });
    now += tookMs;
    const sent = sends.find(({ type }) => type !== 'escalation');
    if (sent === undefined) throw new Error('nothing was sent');
    if (sent.to === 'x-sink') {
      const { phase = '', reason = '', actor: last } = sent.envelope.status ?? {};
      return { atMs: now - NOW, phase, reason, actor: last };
    }
    now += Math.ceil(sent.delayMs / 1000) * 1000;
    queue = sent.to;
    body = sent.body;
  }
}

describe('for any policy', () => {
  it('a simulated retry starts after the delay of its attempt', async () => {
    let seen = 0;
    await fc.assert(
      fc.asyncProperty(cases, async (given) => {
        const { steps } = await simulatedFrom(given);
        for (const [index, { decision, attempt = 0, endedMs, actor }] of steps.entries()) {
          if (decision.kind !== 'retries') continue;
          expect(decision.by.policy).toBe('default');
          const delayMs = delayAfterAttempt(given.policy, attempt, given.randomValue);
          expect(decision.delayMs).toBe(delayMs);
          const next = steps.slice(index + 1).find((step) => step.attempt !== undefined);
          if (next === undefined) continue;
          expect(next).toMatchObject({
            actor,
            attempt: attempt + 1,
            atMs: endedMs + Math.ceil(delayMs / 1000) * 1000,
          });
          seen++;
        }
      }),
      { numRuns: 500, seed: 20_260_101 },
    );
    expect(seen).toBeGreaterThan(200);
  });

  it('a simulated envelope ends like the reference simulation', async () => {
    const reasons = new Set<string>();
    await fc.assert(
      fc.asyncProperty(cases, async (given) => {
        const { end } = await simulatedFrom(given);
        if (end.kind !== 'ended') return;
        const { atMs, phase, reason, actor } = end;
        expect({ atMs, phase, reason, actor }).toEqual(referenceEnd(given));
        reasons.add(reason);
      }),
      { numRuns: 1_000, seed: 20_260_101 },
    );
    expect([...reasons].sort()).toEqual([
      'ActorTimeout',
      'Completed',
      'Dropped',
      'Escalated',
      'NonRetryableFailure',
      'PolicyExhausted',
      'RuntimeError',
      'Timeout',
    ]);
  });
});
