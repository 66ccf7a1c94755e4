import { describe, expect, it } from 'vitest';
import { hasElapsed, isExhausted } from '../../../lib/core/policy/policy-exhaustion.ts';
import { anEnvelope, at, faultEnd, handle, policyOf, type Setting } from '../a-delivery.ts';

describe('isExhausted', () => {
  it.each([
    ['before its last attempt', { maxAttempts: 3 }, 2, 0, 0, false],
    ['at its last attempt', { maxAttempts: 3 }, 3, 0, 0, true],
    ['after its last attempt', { maxAttempts: 3 }, 4, 0, 0, true],
    ['at the only attempt', {}, 1, 0, 0, true],
    [
      'not by attempts if they are unlimited',
      { maxAttempts: 'unlimited', maxDuration: '1s' },
      1e9,
      0,
      0,
      false,
    ],
    ['at the end of its duration', { maxAttempts: 9, maxDuration: '1s' }, 1, 1_000, 0, false],
    ['after the end of its duration', { maxAttempts: 9, maxDuration: '1s' }, 1, 1_001, 0, true],
    ['at the end of expireAfter', { maxAttempts: 9, expireAfter: '1s' }, 1, 0, 1_000, false],
    ['after the end of expireAfter', { maxAttempts: 9, expireAfter: '1s' }, 1, 0, 1_001, true],
    [
      "not by the event's age if only maxDuration is set",
      { maxAttempts: 9, maxDuration: '1s' },
      1,
      0,
      1_001,
      false,
    ],
    [
      'not by the duration if only expireAfter is set',
      { maxAttempts: 9, expireAfter: '1s' },
      1,
      1_001,
      0,
      false,
    ],
  ])('%s', (_what, input, attempt, actorAgeMs, eventAgeMs, is) => {
    const now = 5_000_000;
    expect(isExhausted(policyOf(input), attempt, now - actorAgeMs, now - eventAgeMs, now)).toBe(is);
  });

  it('hasElapsed is false without a limit', () => {
    expect(hasElapsed(undefined, 0, Number.MAX_SAFE_INTEGER)).toBe(false);
    expect(hasElapsed(0, 5, 5)).toBe(false);
    expect(hasElapsed(0, 5, 6)).toBe(true);
  });
});

describe('the times of an envelope', () => {
  const retrying = { phase: 'retrying', actor: 'score', attempt: 1, created_at: at(-60_000) };
  const reasonAfter = (policy: object, envelope: object) => {
    const setting: Setting = { policies: { default: { maxAttempts: 9, ...policy } } };
    return handle(anEnvelope({ status: retrying, ...envelope }), faultEnd(), setting).sent.status?.reason;
  };

  it.each([
    ["maxDuration starts with this actor's first attempt", { maxDuration: '60s' }, {}, undefined],
    ['maxDuration has elapsed', { maxDuration: '59s' }, {}, 'PolicyExhausted'],
    [
      'an old event_time has expired',
      { expireAfter: '1h' },
      { headers: { event_time: at(-3_600_001) } },
      'PolicyExhausted',
    ],
    [
      'a recent event_time has not expired',
      { expireAfter: '1h' },
      { headers: { event_time: at(-3_600_000) } },
      undefined,
    ],
    ['without event_time, created_at counts', { expireAfter: '59s' }, {}, 'PolicyExhausted'],
    ['without event_time, a recent created_at has not expired', { expireAfter: '60s' }, {}, undefined],
    [
      'an invalid event_time is ignored',
      { expireAfter: '59s' },
      { headers: { event_time: 'x' } },
      'PolicyExhausted',
    ],
    [
      'an event_time that is not text is ignored',
      { expireAfter: '60s' },
      { headers: { event_time: 7 } },
      undefined,
    ],
    [
      'event_time does not affect maxDuration',
      { maxDuration: '1h' },
      { headers: { event_time: at(-9e9) } },
      undefined,
    ],
    [
      'maxDuration starts again at another actor',
      { maxDuration: '1s' },
      { status: { phase: 'pending', actor: 'fetch', created_at: at(-60_000) } },
      undefined,
    ],
  ])('%s', (_what, policy, envelope, reason) => {
    expect(reasonAfter(policy, envelope)).toBe(reason);
  });
});
