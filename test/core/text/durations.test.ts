import { describe, expect, it } from 'vitest';
import { DURATION_RULE, durationMs, durationText, MAX_DURATION_MS } from '../../../lib/core/text/duration.ts';

describe('durationMs', () => {
  it.each([
    ['300ms', 300],
    ['1.5s', 1_500],
    ['5m', 300_000],
    ['1h30m', 5_400_000],
    ['1h', 3_600_000],
    ['2h3m4s5ms', 7_384_005],
    ['1s1s', 2_000],
    ['0', 0],
    ['0s', 0],
    ['.5s', 500],
    ['1.s', 1_000],
    ['007s', 7_000],
    ['2000us', 2],
    ['2000\u00b5s', 2],
    ['2000\u03bcs', 2],
    ['3000000ns', 3],
    ['0.1h', 360_000],
    ['1.000000000000000000001s', 1_000],
  ])('%s is %d ms', (text, milliseconds) => {
    expect(durationMs(text)).toBe(milliseconds);
  });

  it.each([
    ['499999ns', 0],
    ['500000ns', 1],
    ['0.4ms', 0],
    ['0.5ms', 1],
    ['1.4ms', 1],
    ['1.5ms', 2],
    ['1499us', 1],
    ['1500us', 2],
    ['0.3ms0.3ms', 1],
  ])('rounds %s to %d ms', (text, milliseconds) => {
    expect(durationMs(text)).toBe(milliseconds);
  });

  it.each([
    [''],
    ['5'],
    ['00'],
    ['s'],
    ['.s'],
    ['.'],
    ['1'],
    ['-1s'],
    ['+1s'],
    ['1 s'],
    [' 1s'],
    ['1s '],
    ['1s1'],
    ['1d'],
    ['1S'],
    ['1e3s'],
    ['1,5s'],
    ['1h-5m'],
    ['x1s'],
    ['1sx'],
    ['five minutes'],
  ])('rejects %j', (text) => {
    expect(durationMs(text)).toBeUndefined();
  });

  it.each([[5], [null], [undefined], [['5s']], [{}], [true]])(
    'rejects a value that is not text: %j',
    (value) => {
      expect(durationMs(value)).toBeUndefined();
    },
  );

  it("rejects durations longer than Go's longest", () => {
    expect(MAX_DURATION_MS).toBe(9_223_372_036_855);
    expect(durationMs('9223372036854775807ns')).toBe(MAX_DURATION_MS);
    expect(durationMs('9223372036855ms')).toBe(MAX_DURATION_MS);
    expect(durationMs('9223372036856ms')).toBeUndefined();
  });

  it('is described by DURATION_RULE', () => {
    expect(DURATION_RULE).toBe('expected a duration such as "300ms", "1.5s", "5m" or "1h30m"');
  });
});

describe('durationText', () => {
  it.each([
    [0, '0s'],
    [1, '1ms'],
    [999, '999ms'],
    [1_000, '1s'],
    [1_500, '1s500ms'],
    [60_000, '1m'],
    [90_000, '1m30s'],
    [3_600_000, '1h'],
    [5_400_000, '1h30m'],
    [3_600_001, '1h1ms'],
    [90_061_001, '25h1m1s1ms'],
  ])('writes %d ms as %s, and durationMs reads it back', (milliseconds, text) => {
    expect(durationText(milliseconds)).toBe(text);
    expect(durationMs(text)).toBe(milliseconds);
  });
});
