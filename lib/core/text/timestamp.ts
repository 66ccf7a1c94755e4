/**
 * Instants: RFC 3339 text in envelopes, milliseconds since 1970 in decisions. Any UTC offset is accepted, and UTC is
 * written.
 */

const RFC_3339 = /^(\d{4})-(\d\d)-(\d\d)[Tt](\d\d):(\d\d):(\d\d)(?:\.(\d+))?(?:[Zz]|([+-])(\d\d):(\d\d))$/;

export const TIMESTAMP_RULE = 'expected an RFC 3339 time such as "2026-01-01T00:00:00Z"';

/** RFC 3339 has four digits for the year: other instants cannot be written in UTC. */
const YEAR_0_MS = -62_167_219_200_000;
const YEAR_10000_MS = 253_402_300_800_000;

interface Instant {
  /** The whole second, in milliseconds since 1970. */
  readonly secondMs: number;
  /** The digits after the decimal point, unchanged. */
  readonly fraction: string;
}

/** The instant in milliseconds since 1970; undefined if the value is not an RFC 3339 timestamp. */
export function instantMs(value: unknown): number | undefined {
  if (typeof value !== 'string') return undefined;
  const usual = canonicalInstantMs(value);
  if (usual !== undefined) return usual;
  const instant = instantFromText(value);
  if (instant === undefined) return undefined;
  return instant.secondMs + Number(instant.fraction.slice(0, 3).padEnd(3, '0'));
}

const DASH = 0x2d;
const POINT = 0x2e;
const COLON = 0x3a;
const UPPER_T = 0x54;
const UPPER_Z = 0x5a;
const WHOLE_SECONDS = 20;

/**
 * Reads the form that `timestampText` writes, without a regular expression: almost every timestamp has this form, and
 * this is the hot path. Undefined for any other form, which the regular expression reads. A mutant that only rejects
 * more texts here is therefore slower, but equivalent.
 */
function canonicalInstantMs(text: string): number | undefined {
  const { length } = text;
  const isUsual =
    length >= WHOLE_SECONDS &&
    length <= WHOLE_SECONDS + 4 &&
    text.charCodeAt(4) === DASH &&
    text.charCodeAt(7) === DASH &&
    text.charCodeAt(10) === UPPER_T &&
    text.charCodeAt(13) === COLON &&
    text.charCodeAt(16) === COLON &&
    text.charCodeAt(length - 1) === UPPER_Z;
  if (!isUsual) return undefined;
  const year = twoDigits(text, 0) * 100 + twoDigits(text, 2);
  const month = twoDigits(text, 5);
  const secondMs = civilMs(
    year,
    month,
    twoDigits(text, 8),
    twoDigits(text, 11),
    twoDigits(text, 14),
    twoDigits(text, 17),
  );
  const milliseconds = (secondMs ?? Number.NaN) + (length === WHOLE_SECONDS ? 0 : fractionMs(text));
  return Number.isNaN(milliseconds) ? undefined : milliseconds;
}

/** The milliseconds in one to three digits after the decimal point; NaN if they are not digits. */
function fractionMs(text: string): number {
  if (text.charCodeAt(WHOLE_SECONDS - 1) !== POINT) return Number.NaN;
  let milliseconds = 0;
  for (let at = WHOLE_SECONDS, worth = 100; at < text.length - 1; at++, worth /= 10) {
    milliseconds += digit(text, at) * worth;
  }
  return text.length === WHOLE_SECONDS + 1 ? Number.NaN : milliseconds;
}

function digit(text: string, at: number): number {
  const value = text.charCodeAt(at) - 0x30;
  return value >= 0 && value <= 9 ? value : Number.NaN;
}

/** NaN if they are not digits. */
function twoDigits(text: string, at: number): number {
  return digit(text, at) * 10 + digit(text, at + 1);
}

/** The same instant in UTC, with the same precision. Text that is not a timestamp is returned unchanged. */
export function toUtcText(text: string): string {
  if (isInUtc(text)) return text;
  const instant = instantFromText(text);
  if (instant === undefined) return text;
  const second = timestampText(instant.secondMs).slice(0, -1);
  return instant.fraction === '' ? `${second}Z` : `${second}.${instant.fraction}Z`;
}

const SIX = 0x36;

/** Whether a timestamp is in UTC already and needs no conversion. Leap seconds are converted. */
function isInUtc(text: string): boolean {
  return text.charCodeAt(10) === UPPER_T && text.charCodeAt(17) !== SIX && text.endsWith('Z');
}

let lastInstant = Number.NaN;
let lastText = '';

/** RFC 3339 in UTC, without trailing zeros: "2026-01-01T00:00:00.25Z". Caches the last result: most are needed twice. */
export function timestampText(milliseconds: number): string {
  if (milliseconds !== lastInstant) {
    // biome-ignore lint/style/noRestrictedGlobals: calendar arithmetic on a given instant reads no clock
    lastText = new Date(milliseconds).toISOString().replace(/\.?0*Z$/, 'Z');
    lastInstant = milliseconds;
  }
  return lastText;
}

function instantFromText(text: string): Instant | undefined {
  const match = RFC_3339.exec(text);
  if (match === null) return undefined;
  const [
    ,
    year,
    month,
    day,
    hour,
    minute,
    second,
    fraction = '',
    sign,
    offsetHour = '0',
    offsetMinute = '0',
  ] = match;
  if (Number(offsetHour) > 23 || Number(offsetMinute) > 59) return undefined;
  // A leap second is the first instant of the next minute.
  const plainSecond = second === '60' ? 59 : Number(second);
  const localMs = civilMs(
    Number(year),
    Number(month),
    Number(day),
    Number(hour),
    Number(minute),
    plainSecond,
  );
  if (localMs === undefined) return undefined;
  const offsetMs = (Number(offsetHour) * 60 + Number(offsetMinute)) * 60_000 * (sign === '-' ? -1 : 1);
  if (second === '60' && !isLastSecondOfDay(localMs - offsetMs)) return undefined;
  const secondMs = localMs - offsetMs + (second === '60' ? 1000 : 0);
  return secondMs >= YEAR_0_MS && secondMs < YEAR_10000_MS ? { secondMs, fraction } : undefined;
}

/** Undefined if a field is out of range. The range of days depends on the month: February 30 is invalid. */
function civilMs(
  year: number,
  month: number,
  day: number,
  hour: number,
  minute: number,
  second: number,
): number | undefined {
  if (month < 1 || month > 12 || hour > 23 || minute > 59 || second > 59) return undefined;
  if (day < 1 || day > daysInMonth(year, month)) return undefined;
  return daysSince1970(year, month, day) * 86_400_000 + ((hour * 60 + minute) * 60 + second) * 1000;
}

function isLastSecondOfDay(milliseconds: number): boolean {
  return (milliseconds + 1000) % 86_400_000 === 0;
}

function isLeapYear(year: number): boolean {
  return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0);
}

function daysInMonth(year: number, month: number): number {
  if (month === 2) return isLeapYear(year) ? 29 : 28;
  return month === 4 || month === 6 || month === 9 || month === 11 ? 30 : 31;
}

/** Days in the proleptic Gregorian calendar. Date.UTC would read the years 0 to 99 as 1900 to 1999. */
function daysSince1970(year: number, month: number, day: number): number {
  const years = month > 2 ? year : year - 1;
  const monthsSinceMarch = (month + 9) % 12;
  const leapDays = Math.floor(years / 4) - Math.floor(years / 100) + Math.floor(years / 400);
  return years * 365 + leapDays + Math.floor((monthsSinceMarch * 153 + 2) / 5) + day - 719_469;
}

const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];
/** The three forms of an HTTP date: the current one, and the two obsolete ones that recipients must accept. */
const HTTP_DATES = [
  /^[A-Z][a-z]{2}, (?<day>\d\d) (?<month>[A-Z][a-z]{2}) (?<year>\d{4}) (?<time>\d\d:\d\d:\d\d) GMT$/,
  /^[A-Z][a-z]{5,8}, (?<day>\d\d)-(?<month>[A-Z][a-z]{2})-(?<year>\d\d) (?<time>\d\d:\d\d:\d\d) GMT$/,
  /^[A-Z][a-z]{2} (?<month>[A-Z][a-z]{2}) (?<day>[ \d]\d) (?<time>\d\d:\d\d:\d\d) (?<year>\d{4})$/,
];

/** The instant of an HTTP date such as "Thu, 01 Jan 2026 00:00:00 GMT". */
export function instantMsFromHttpDate(text: string): number | undefined {
  const groups = HTTP_DATES.map((form) => form.exec(text)?.groups).find((found) => found !== undefined);
  if (groups === undefined) return undefined;
  const { day, month = '', year = '', time = '' } = groups;
  const [hour = 0, minute = 0, second = 0] = time.split(':').map(Number);
  const fullYear = year.length === 2 ? 2000 + Number(year) : Number(year);
  return civilMs(fullYear, MONTHS.indexOf(month) + 1, Number(day), hour, minute, second);
}
