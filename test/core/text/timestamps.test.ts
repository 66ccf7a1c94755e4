import { describe, expect, it } from 'vitest';
import {
  instantMs,
  instantMsFromHttpDate,
  TIMESTAMP_RULE,
  timestampText,
  toUtcText,
} from '../../../lib/core/text/timestamp.ts';

describe('instantMs reads RFC 3339 timestamps', () => {
  it.each([
    ['2026-01-01T00:00:00Z', Date.UTC(2026, 0, 1)],
    ['2026-01-01t00:00:00z', Date.UTC(2026, 0, 1)],
    ['1970-01-01T00:00:00Z', 0],
    ['1969-12-31T23:59:59Z', -1_000],
    ['2026-12-31T23:59:59Z', Date.UTC(2026, 11, 31, 23, 59, 59)],
    ['2026-01-01T00:00:00.5Z', Date.UTC(2026, 0, 1) + 500],
    ['2026-01-01T00:00:00.05Z', Date.UTC(2026, 0, 1) + 50],
    ['2026-01-01T00:00:00.123Z', Date.UTC(2026, 0, 1) + 123],
    ['2026-01-01T00:00:00.123999999Z', Date.UTC(2026, 0, 1) + 123],
    ['2026-01-01T02:00:00+02:00', Date.UTC(2026, 0, 1)],
    ['2025-12-31T18:30:00-05:30', Date.UTC(2026, 0, 1)],
    ['2026-01-01T00:00:00-00:00', Date.UTC(2026, 0, 1)],
    ['2026-01-01T23:59:00+23:59', Date.UTC(2026, 0, 1)],
    ['2024-02-29T00:00:00Z', Date.UTC(2024, 1, 29)],
    ['2000-02-29T00:00:00Z', Date.UTC(2000, 1, 29)],
    ['2024-03-01T00:00:00Z', Date.UTC(2024, 2, 1)],
    ['2023-03-01T00:00:00Z', Date.UTC(2023, 2, 1)],
    ['1900-03-01T00:00:00Z', Date.UTC(1900, 2, 1)],
    ['0000-01-01T00:00:00Z', -62_167_219_200_000],
    ['0000-01-01T00:00:00+00:00', -62_167_219_200_000],
    ['0000-03-01T00:00:00Z', -62_162_035_200_000],
    ['0099-12-31T23:59:59Z', -59_011_459_201_000],
    ['9999-12-31T23:59:59.999Z', 253_402_300_799_999],
  ])('%s', (text, milliseconds) => {
    expect(instantMs(text)).toBe(milliseconds);
  });

  it.each([
    [1, 31],
    [2, 28],
    [3, 31],
    [4, 30],
    [5, 31],
    [6, 30],
    [7, 31],
    [8, 31],
    [9, 30],
    [10, 31],
    [11, 30],
    [12, 31],
  ])('month %d has %d days', (month, days) => {
    const day = (number: number) =>
      `2026-${String(month).padStart(2, '0')}-${String(number).padStart(2, '0')}T12:00:00Z`;
    expect(instantMs(day(1))).toBe(Date.UTC(2026, month - 1, 1, 12));
    expect(instantMs(day(days))).toBe(Date.UTC(2026, month - 1, days, 12));
    expect(instantMs(day(days + 1))).toBeUndefined();
  });

  it.each([
    ['a leap second is the first instant of the next day', '2016-12-31T23:59:60Z', Date.UTC(2017, 0, 1)],
    ['a leap second with a fraction', '2016-12-31T23:59:60.25Z', Date.UTC(2017, 0, 1) + 250],
    ['a leap second with an offset', '2017-01-01T01:59:60+02:00', Date.UTC(2017, 0, 1)],
  ])('%s', (_what, text, milliseconds) => {
    expect(instantMs(text)).toBe(milliseconds);
  });
});

describe('instantMs rejects other values', () => {
  it.each([
    [''],
    ['yesterday'],
    ['2026-01-01'],
    ['2026-01-01T00:00:00'],
    ['2026-01-01 00:00:00Z'],
    ['2026-01-01T00:00Z'],
    ['2026-1-1T00:00:00Z'],
    ['26-01-01T00:00:00Z'],
    ['x2026-01-01T00:00:00Z'],
    ['2026-01-01T00:00:00Zx'],
    ['2026-01-01T00:00:00.Z'],
    ['2026x01-01T00:00:00Z'],
    ['2026-01x01T00:00:00Z'],
    ['2026-01-01T00x00:00Z'],
    ['2026-01-01T00:00x00Z'],
    ['2026-01-01T00:00:00x'],
    ['2026-01-01T00:00:00,5Z'],
    ['2026-01-01T00:00:00x5Z'],
    ['2026-01-01T00:00:00.x5Z'],
    ['2026-01-01T00:00:00.5xZ'],
    ['2026-01-01T00:00:005Z'],
    ['2o26-01-01T00:00:00Z'],
    ['2026-0:-01T00:00:00Z'],
    ['2026-0/-01T00:00:00Z'],
    ['2026-00-01T00:00:00Z'],
    ['2026-13-01T00:00:00Z'],
    ['2026-01-00T00:00:00Z'],
    ['2026-01-32T00:00:00Z'],
    ['2026-02-29T00:00:00Z'],
    ['1900-02-29T00:00:00Z'],
    ['2026-01-01T24:00:00Z'],
    ['2026-01-01T00:60:00Z'],
    ['2026-01-01T00:00:61Z'],
    ['2026-01-01T12:00:60Z'],
    ['2026-01-01T00:00:00+24:00'],
    ['2026-01-01T00:00:00+00:60'],
    ['2026-01-01T00:00:00+0000'],
    ['2026-01-01T00:00:00+1:00'],
    ['0000-01-01T00:00:00+00:01'],
    ['9999-12-31T23:59:59-00:01'],
    ['9999-12-31T23:59:60Z'],
  ])('%j', (text) => {
    expect(instantMs(text)).toBeUndefined();
  });

  it.each([[1_767_225_600], [null], [undefined], [{}], [['2026-01-01T00:00:00Z']]])(
    'not text: %j',
    (value) => {
      expect(instantMs(value)).toBeUndefined();
    },
  );

  it('is described by TIMESTAMP_RULE', () => {
    expect(TIMESTAMP_RULE).toBe('expected an RFC 3339 time such as "2026-01-01T00:00:00Z"');
  });
});

describe('timestamps are written in UTC', () => {
  it.each([
    [Date.UTC(2026, 0, 1), '2026-01-01T00:00:00Z'],
    [Date.UTC(2026, 0, 1, 10, 20, 30), '2026-01-01T10:20:30Z'],
    [Date.UTC(2026, 0, 1) + 250, '2026-01-01T00:00:00.25Z'],
    [Date.UTC(2026, 0, 1) + 200, '2026-01-01T00:00:00.2Z'],
    [Date.UTC(2026, 0, 1) + 7, '2026-01-01T00:00:00.007Z'],
    [Date.UTC(2026, 0, 1, 0, 0, 10), '2026-01-01T00:00:10Z'],
  ])('writes %d as %s', (milliseconds, text) => {
    expect(timestampText(milliseconds)).toBe(text);
  });

  it.each([
    ['2026-01-01T02:00:00+02:00', '2026-01-01T00:00:00Z'],
    ['2025-12-31T19:00:00-05:00', '2026-01-01T00:00:00Z'],
    ['2026-01-01T00:00:00z', '2026-01-01T00:00:00Z'],
    ['2026-01-01T00:00:00Z', '2026-01-01T00:00:00Z'],
    ['2016-12-31T23:59:60Z', '2017-01-01T00:00:00Z'],
  ])('converts %s to %s', (text, utc) => {
    expect(toUtcText(text)).toBe(utc);
  });

  it.each([
    ['2026-01-01T02:00:00.123456789+02:00', '2026-01-01T00:00:00.123456789Z'],
    ['2026-01-01T00:00:00.100Z', '2026-01-01T00:00:00.100Z'],
  ])('%s keeps its precision', (text, utc) => {
    expect(toUtcText(text)).toBe(utc);
  });

  it('returns other text unchanged', () => {
    expect(toUtcText('yesterday')).toBe('yesterday');
  });
});

describe('instantMsFromHttpDate', () => {
  it.each([
    ['Thu, 01 Jan 2026 00:00:00 GMT', Date.UTC(2026, 0, 1)],
    ['Sun, 06 Nov 1994 08:49:37 GMT', Date.UTC(1994, 10, 6, 8, 49, 37)],
    ['Thu, 31 Dec 2026 23:59:59 GMT', Date.UTC(2026, 11, 31, 23, 59, 59)],
    ['Sun, 01 Feb 2026 10:00:00 GMT', Date.UTC(2026, 1, 1, 10)],
    ['Sun, 01 Mar 2026 10:00:00 GMT', Date.UTC(2026, 2, 1, 10)],
    ['Wed, 01 Apr 2026 10:00:00 GMT', Date.UTC(2026, 3, 1, 10)],
    ['Fri, 01 May 2026 10:00:00 GMT', Date.UTC(2026, 4, 1, 10)],
    ['Mon, 01 Jun 2026 10:00:00 GMT', Date.UTC(2026, 5, 1, 10)],
    ['Wed, 01 Jul 2026 10:00:00 GMT', Date.UTC(2026, 6, 1, 10)],
    ['Sat, 01 Aug 2026 10:00:00 GMT', Date.UTC(2026, 7, 1, 10)],
    ['Tue, 01 Sep 2026 10:00:00 GMT', Date.UTC(2026, 8, 1, 10)],
    ['Thu, 01 Oct 2026 10:00:00 GMT', Date.UTC(2026, 9, 1, 10)],
    ['Sun, 01 Nov 2026 10:00:00 GMT', Date.UTC(2026, 10, 1, 10)],
    ['Tue, 01 Dec 2026 10:00:00 GMT', Date.UTC(2026, 11, 1, 10)],
    ['Sunday, 06-Nov-94 08:49:37 GMT', Date.UTC(2094, 10, 6, 8, 49, 37)],
    ['Wednesday, 01-Jan-26 00:00:07 GMT', Date.UTC(2026, 0, 1, 0, 0, 7)],
    ['Sun Nov  6 08:49:37 1994', Date.UTC(1994, 10, 6, 8, 49, 37)],
    ['Sun Nov 16 08:49:37 2036', Date.UTC(2036, 10, 16, 8, 49, 37)],
  ])('%s', (text, milliseconds) => {
    expect(instantMsFromHttpDate(text)).toBe(milliseconds);
  });

  it.each([
    ['Thu, 01 Jan 2026 00:00:00'],
    ['Thu, 01 Jan 2026 00:00:00 CET'],
    ['Thu, 1 Jan 2026 00:00:00 GMT'],
    ['Thu, 01 Jnn 2026 00:00:00 GMT'],
    ['Thu, 32 Jan 2026 00:00:00 GMT'],
    ['Thu, 01 Jan 2026 24:00:00 GMT'],
    ['Thu, 01 Jan 2026 00:60:00 GMT'],
    ['Thu, 01 Jan 2026 00:00:60 GMT'],
    ['xThu, 01 Jan 2026 00:00:00 GMT'],
    ['Thu, 01 Jan 2026 00:00:00 GMTx'],
    ['Thur, 01 Jan 2026 00:00:00 GMT'],
    ['Thu, 01 January 2026 00:00:00 GMT'],
    ['Thu, 01-Jan-26 00:00:00 GMT'],
    ['Thursdays!, 01-Jan-26 00:00:00 GMT'],
    ['xThursday, 01-Jan-26 00:00:00 GMT'],
    ['Thursday, 01-Jan-26 00:00:00 GMTx'],
    ['Thursday, 01-Jan-2026 00:00:00 GMT'],
    ['Thursday, 01-Jan-26 00:00:00'],
    ['Thu Jan 1 00:00:00 2026'],
    ['Thu Jan  1 00:00:00 2026x'],
    ['xThu Jan  1 00:00:00 2026'],
    ['Thu Jan  1 00:00:00 26'],
    ['Thu Jan  1 24:00:00 2026'],
    ['2026-01-01T00:00:00Z'],
    [''],
  ])('rejects %j', (text) => {
    expect(instantMsFromHttpDate(text)).toBeUndefined();
  });
});
