import { describe, expect, it } from 'vitest';
import { hasElapsed, isExhausted } from '../../../lib/core/policy/policy-exhaustion.ts';
import { anEnvelope, at, faultEnd, handle, policyOf, type Setting } from '../a-delivery.ts';

describe('a policy is exhausted', () => {
  it.each([
    ['before its last attempt', { maxAttempts: 3 }, 2, 0, 0, false],
    ['at its last attempt', { maxAttempts: 3 }, 3, 0, 0, true],
    ['beyond it', { maxAttempts: 3 }, 4, 0, 0, true],
    ['at the first of one', {}, 1, 0, 0, true],
    [
      'never by attempts alone where they are unlimited',
      { maxAttempts: 'unlimited', maxDuration: '1s' },
      1e9,
      0,
      0,
      false,
    ],
    ['at the end of its duration', { maxAttempts: 9, maxDuration: '1s' }, 1, 1_000, 0, false],
    ['after the end of its duration', { maxAttempts: 9, maxDuration: '1s' }, 1, 1_001, 0, true],
    ['when the event is as old as it may be', { maxAttempts: 9, expireAfter: '1s' }, 1, 0, 1_000, false],
    ['when the event is older', { maxAttempts: 9, expireAfter: '1s' }, 1, 0, 1_001, true],
    [
      'not by the age of the event where only the duration counts',
      { maxAttempts: 9, maxDuration: '1s' },
      1,
      0,
      1_001,
      false,
    ],
    [
      'not by the duration where only the age of the event counts',
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

  it('by time only where a limit is set', () => {
    expect(hasElapsed(undefined, 0, Number.MAX_SAFE_INTEGER)).toBe(false);
    expect(hasElapsed(0, 5, 5)).toBe(false);
    expect(hasElapsed(0, 5, 6)).toBe(true);
  });
});

describe('in the life of an envelope', () => {
  const retrying = { phase: 'retrying', actor: 'score', attempt: 1, created_at: at(-60_000) };
  const reasonAfter = (policy: object, envelope: object) => {
    const setting: Setting = { policies: { default: { maxAttempts: 9, ...policy } } };
    return handle(anEnvelope({ status: retrying, ...envelope }), faultEnd(), setting).sent.status?.reason;
  };

  it.each([
    ['the duration began with this actor', { maxDuration: '60s' }, {}, undefined],
    ['and ends', { maxDuration: '59s' }, {}, 'PolicyExhausted'],
    [
      'an event time counts',
      { expireAfter: '1h' },
      { headers: { event_time: at(-3_600_001) } },
      'PolicyExhausted',
    ],
    [
      'an event time that is young',
      { expireAfter: '1h' },
      { headers: { event_time: at(-3_600_000) } },
      undefined,
    ],
    ['without one, the beginning counts', { expireAfter: '59s' }, {}, 'PolicyExhausted'],
    ['without one, the beginning counts and is young', { expireAfter: '60s' }, {}, undefined],
    [
      'an unreadable one is as none',
      { expireAfter: '59s' },
      { headers: { event_time: 'x' } },
      'PolicyExhausted',
    ],
    ['one that is no text is as none', { expireAfter: '60s' }, { headers: { event_time: 7 } }, undefined],
    [
      'an event time does not touch the duration',
      { maxDuration: '1h' },
      { headers: { event_time: at(-9e9) } },
      undefined,
    ],
    [
      'another actor begins anew',
      { maxDuration: '1s' },
      { status: { phase: 'pending', actor: 'fetch', created_at: at(-60_000) } },
      undefined,
    ],
  ])('%s', (_what, policy, envelope, reason) => {
    expect(reasonAfter(policy, envelope)).toBe(reason);
  });
});
