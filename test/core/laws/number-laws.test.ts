import fc from 'fast-check';
import { describe, expect } from 'vitest';
import { delayAfterAttempt, delayWithRetryAfter } from '../../../lib/core/policy/policy-delay.ts';
import { durationMs, durationText, MAX_DURATION_MS } from '../../../lib/core/text/duration.ts';
import {
  instantMs,
  instantMsFromHttpDate,
  timestampText,
  toUtcText,
} from '../../../lib/core/text/timestamp.ts';
import { law } from '../law.ts';
import { instantForms } from './arbitraries.ts';
import { mutatedTexts } from './json-arbitraries.ts';
import { delays, pauses, policies, retryAfterFrom, rolls } from './policy-arbitraries.ts';
import { instantText } from './written.ts';

const NOW = Date.UTC(2026, 0, 1);
const JITTER_SHARE = 1.1;

const attempts = fc.oneof(
  fc.integer({ min: 1, max: 8 }),
  fc.constantFrom(31, 32, 52, 53, 54, 1_023, 1_024, 1_025, 1_000_000, Number.MAX_SAFE_INTEGER - 1),
);

describe('delays', () => {
  law(
    'a delay is a finite whole number from 0, within maxInterval and jitter',
    fc.record({ policy: policies, attempt: attempts, random: rolls, pause: pauses }),
    ({ policy, attempt, random, pause }) => {
      const cap = policy.maxIntervalMs ?? MAX_DURATION_MS;
      const own = delayAfterAttempt(policy, attempt, random);
      const requested = delayWithRetryAfter(policy, own, retryAfterFrom(pause, NOW), NOW);
      for (const delayMs of [own, requested]) {
        expect(Number.isSafeInteger(delayMs)).toBe(true);
        expect(delayMs).toBeGreaterThanOrEqual(0);
        expect(delayMs).toBeLessThanOrEqual(Math.round(cap * JITTER_SHARE));
      }
      expect(requested).toBeGreaterThanOrEqual(own);
      expect(requested).toBeLessThanOrEqual(Math.max(own, cap));
      const plain = delayAfterAttempt({ ...policy, jitter: false }, attempt, random);
      expect(plain).toBeLessThanOrEqual(cap);
      expect(own).toBeGreaterThanOrEqual(plain);
      expect(own).toBeLessThanOrEqual(Math.round(plain * JITTER_SHARE));
    },
    ({ policy, attempt, random, pause }) => {
      const own = delayAfterAttempt(policy, attempt, random);
      const requested = delayWithRetryAfter(policy, own, retryAfterFrom(pause, NOW), NOW);
      return [
        policy.backoff.kind,
        `pause as ${pause.form}`,
        ...(requested > own ? ['retry_after decides'] : []),
        ...(own === policy.maxIntervalMs ? ['at the cap'] : []),
        ...(own > (policy.maxIntervalMs ?? MAX_DURATION_MS) ? ['over the cap by jitter'] : []),
      ];
    },
    [
      'constant',
      'linear',
      'exponential',
      'schedule',
      'retry_after decides',
      'at the cap',
      'over the cap by jitter',
      'pause as seconds',
      'pause as text',
      'pause as rfc-3339',
      'pause as http-date',
      'pause as value',
    ],
  );

  law(
    'all forms of retry_after mean the same, and negative or invalid ones are ignored',
    fc.record({ ownMs: delays, pause: pauses, policy: policies }),
    ({ ownMs, pause, policy }) => {
      const { maxIntervalMs: _cap, ...uncapped } = policy;
      const delayMs = delayWithRetryAfter(uncapped, ownMs, retryAfterFrom(pause, NOW), NOW);
      if (pause.form === 'none') expect(delayMs).toBe(ownMs);
      else if (pause.form !== 'value') {
        // An HTTP date has no fractions of a second.
        const requestedMs = pause.form === 'http-date' ? Math.floor(pause.ms / 1000) * 1000 : pause.ms;
        expect(delayMs).toBe(Math.max(ownMs, requestedMs));
      } else if (pause.value !== Number.POSITIVE_INFINITY && pause.value !== '9'.repeat(400))
        expect(delayMs).toBe(ownMs);
    },
    ({ pause }) => pause.form,
    ['none', 'value', 'seconds', 'text', 'rfc-3339', 'http-date'],
  );

  law(
    'without jitter, delays never decrease, except in a schedule',
    fc.record({ policy: policies, attempt: attempts, random: rolls }),
    ({ policy, attempt, random }) => {
      if (policy.backoff.kind === 'schedule') return;
      const steady = { ...policy, jitter: false };
      const [now, next] = [attempt, attempt + 1].map((one) => delayAfterAttempt(steady, one, random));
      expect(next).toBeGreaterThanOrEqual(now ?? 0);
      if (policy.backoff.kind === 'constant') expect(next).toBe(now);
    },
    ({ policy, attempt, random }) => {
      const [now = 0, next = 0] = [attempt, attempt + 1].map((one) => delayAfterAttempt(policy, one, random));
      return `${policy.backoff.kind} ${next > now ? 'grows' : 'stays'}`;
    },
    ['linear grows', 'linear stays', 'exponential grows', 'exponential stays', 'constant stays'],
  );
});

describe('durations and instants', () => {
  const milliseconds = fc.oneof(
    fc.nat({ max: 10_000 }),
    fc.constantFrom(7_000, 59_999, 60_000, 3_599_999, 3_600_000, 86_400_000, MAX_DURATION_MS),
    fc.maxSafeNat().map((ms) => ms % (MAX_DURATION_MS + 1)),
  );

  law(
    'a written duration is read as the same duration',
    milliseconds,
    (ms) => expect(durationMs(durationText(ms))).toBe(ms),
    (ms) => durationText(ms).replace(/\d+/g, 'N'),
    ['Nms', 'Ns', 'Nm', 'Nh', 'NhNmNsNms'],
  );

  law(
    'a duration has the same value however it is split, and only durations have one',
    fc.tuple(milliseconds, fc.constantFrom('-', '+', ' ', '', 'x', '1', '.', 'd')),
    ([ms, junk]) => {
      expect(durationMs(`${ms}ms`)).toBe(ms);
      expect(durationMs(`${Math.floor(ms / 1000)}s${ms % 1000}ms`)).toBe(ms);
      expect(durationMs(`${Math.floor(ms / 1000)}.${String(ms % 1000).padStart(3, '0')}s`)).toBe(ms);
      const invalid = [`${junk}${durationText(ms)}`, `${durationText(ms)}${junk}`];
      if (junk !== '' && junk !== '1' && junk !== '.')
        expect(invalid.map(durationMs)).toEqual([undefined, undefined]);
    },
    ([, junk]) => junk || 'nothing',
    ['nothing', '-', ' ', 'd'],
  );

  const YEAR_0_MS = Date.parse('0000-01-01T00:00:00Z');
  const YEAR_9999_MS = Date.parse('9999-12-31T23:59:59.999Z');
  const DAY_MS = 86_400_000;
  const instants = fc.oneof(
    fc.constantFrom(
      YEAR_0_MS,
      YEAR_9999_MS,
      -1,
      0,
      1,
      999,
      NOW,
      Date.UTC(2024, 1, 29),
      Date.UTC(2100, 1, 28),
    ),
    fc.maxSafeInteger().map((ms) => YEAR_0_MS + (Math.abs(ms) % (YEAR_9999_MS - YEAR_0_MS + 1))),
    fc.nat({ max: 4_000 }).map((day) => NOW + day * DAY_MS - 1),
  );

  law(
    'a written instant is read as the same instant',
    instants,
    (ms) => {
      const text = timestampText(ms);
      expect(text).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{0,2}[1-9])?Z$/);
      expect(instantMs(text)).toBe(ms);
      expect(instantMs(text)).toBe(Date.parse(text));
      expect(instantMsFromHttpDate(new Date(ms).toUTCString())).toBe(Math.floor(ms / 1000) * 1000);
    },
    (ms) => (timestampText(ms).includes('.') ? 'fraction of a second' : 'whole second'),
    ['fraction of a second', 'whole second'],
  );

  law(
    'an instant in UTC is the same instant with the same digits',
    fc.tuple(
      instants.map((ms) => Math.min(Math.max(ms, YEAR_0_MS + DAY_MS), YEAR_9999_MS - DAY_MS)),
      instantForms,
      fc.constantFrom('', '.0', '.5', '.123', '.000000001', '.999999999999'),
    ),
    ([ms, form, fraction]) => {
      const text = instantText(ms, form);
      expect(instantMs(text)).toBe(ms);
      expect(instantMs(toUtcText(text))).toBe(ms);
      expect(toUtcText(text)).toMatch(/Z$/);
      const precise = text.replace(/\.\d+/, fraction);
      const utc = toUtcText(precise);
      expect(instantMs(utc)).toBe(instantMs(precise));
      expect(utc.endsWith(`${fraction}Z`)).toBe(true);
      expect(toUtcText(utc)).toBe(utc);
    },
    ([, form]) => form,
    ['utc', '+05:30', '-08:00', 'nanoseconds', 'lower-case'],
  );

  const timeTexts = fc
    .tuple(instants, instantForms, fc.constantFrom('.123', '', '.5', '.12', '.0001'))
    .map(([ms, form, fraction]) =>
      instantText(Math.min(Math.max(ms, YEAR_0_MS + DAY_MS), YEAR_9999_MS - DAY_MS), form).replace(
        /\.\d+/,
        fraction,
      ),
    );
  const digitEdits = fc
    .tuple(
      timeTexts,
      fc.nat({ max: 30 }),
      fc.constantFrom('0', '1', '3', '6', '9', ':', '-', 'Z', '.', '\u0660'),
    )
    .map(([text, at, character]) => text.slice(0, at) + character + text.slice(at + 1));

  const edgeTimes = fc
    .tuple(
      fc.constantFrom('2024', '2026', '2100', '2000', '0000', '9999'),
      fc.constantFrom(
        '02-28',
        '02-29',
        '02-30',
        '04-30',
        '04-31',
        '12-31',
        '12-32',
        '01-00',
        '00-10',
        '13-01',
      ),
      fc.constantFrom('00:00:00', '23:59:59', '24:00:00', '12:60:00', '12:00:61'),
      fc.constantFrom('Z', '.5Z', '.999Z', '+00:00', '-23:59', '+24:00', '+00:60'),
    )
    .map(([year, day, time, rest]) => `${year}-${day}T${time}${rest}`);

  law(
    'exactly RFC 3339 timestamps are read, with the right instant',
    fc.oneof(timeTexts, edgeTimes, digitEdits, mutatedTexts(timeTexts)),
    (text) => {
      const named = instantNamedBy(text);
      if (named !== 'leap') expect(instantMs(text)).toBe(named);
      if (instantMs(text) === undefined) expect(toUtcText(text)).toBe(text);
      else expect(instantMs(toUtcText(text))).toBe(instantMs(text));
    },
    (text) => {
      const named = instantNamedBy(text);
      return named === undefined ? 'not a time' : named === 'leap' ? 'a leap second' : 'a time';
    },
    ['a time', 'not a time'],
  );
});

/** Computed with JavaScript's Date. 'leap' for leap seconds, which Date does not support. */
function instantNamedBy(text: string): number | 'leap' | undefined {
  const match = /^(\d{4})-(\d\d)-(\d\d)T(\d\d):(\d\d):(\d\d)(?:\.(\d+))?(?:Z|([+-])(\d\d):(\d\d))$/i.exec(
    text,
  );
  if (match === null) return undefined;
  const fields = match.slice(1, 7).map(Number);
  const [year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0] = fields;
  if (second === 60) return 'leap';
  const date = new Date(0);
  date.setUTCFullYear(year, month - 1, day);
  date.setUTCHours(hour, minute, second, Number((match[7] ?? '').slice(0, 3).padEnd(3, '0')));
  const written = date.toISOString().match(/\d+/g)?.slice(0, 6).map(Number);
  const [offsetHours, offsetMinutes] = [Number(match[9] ?? 0), Number(match[10] ?? 0)];
  if (JSON.stringify(written) !== JSON.stringify(fields) || offsetHours > 23 || offsetMinutes > 59)
    return undefined;
  const ms = date.getTime() - (match[8] === '-' ? -1 : 1) * (offsetHours * 60 + offsetMinutes) * 60_000;
  // An instant outside the years 0 to 9999 in UTC cannot be written.
  return ms >= Date.parse('0000-01-01T00:00:00Z') && ms <= Date.parse('9999-12-31T23:59:59.999Z')
    ? ms
    : undefined;
}
