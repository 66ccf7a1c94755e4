import { isDeepStrictEqual } from 'node:util';

/** A difference between the actual and the expected value. */
export interface Difference {
  readonly path: string;
  readonly expected: unknown;
  readonly actual: unknown;
}

type Fields = Readonly<Record<string, unknown>>;

const MISSING = { $missing: true };

export function differenceText({ path, expected, actual }: Difference): string {
  return `${path}\n      expected ${textOf(expected)}\n      got      ${textOf(actual)}`;
}

function textOf(value: unknown): string {
  return value === MISSING ? '(nothing)' : (JSON.stringify(value) ?? '(nothing)');
}

export function compareExactly(path: string, expected: unknown, actual: unknown): Difference[] {
  return isDeepStrictEqual(expected, actual) ? [] : [{ path, expected, actual }];
}

/** Compares only the expected keys, also inside `error`. */
function compareListed(path: string, expected: Fields, actual: unknown): Difference[] {
  if (typeof actual !== 'object' || actual === null) return [{ path, expected, actual: actual ?? MISSING }];
  const fields = actual as Fields;
  return Object.entries(expected).flatMap(([key, value]) =>
    key === 'error'
      ? compareListed(`${path}.error`, value as Fields, fields[key])
      : compareExactly(`${path}.${key}`, value, key in fields ? fields[key] : MISSING),
  );
}

export interface ExpectedSend {
  readonly to: string;
  readonly delayMs: number;
  readonly envelope: Fields;
  readonly absent: readonly string[];
}

export interface ActualSend {
  readonly to: string;
  readonly delayMs: number;
  readonly envelope: Fields;
}

export function compareSends(expected: readonly ExpectedSend[], actual: readonly ActualSend[]): Difference[] {
  const differences = compareExactly('sends.length', expected.length, actual.length);
  return [
    ...differences,
    ...expected.flatMap((send, index) => {
      const sent = actual[index];
      return sent === undefined ? [] : compareSend(`sends[${index}]`, send, sent);
    }),
  ];
}

function compareSend(path: string, expected: ExpectedSend, actual: ActualSend): Difference[] {
  const isDelayed = Math.abs(expected.delayMs - actual.delayMs) <= 1;
  return [
    ...compareExactly(`${path}.to`, expected.to, actual.to),
    ...(isDelayed ? [] : [{ path: `${path}.delayMs`, expected: expected.delayMs, actual: actual.delayMs }]),
    ...compareEnvelope(`${path}.envelope`, expected.envelope, actual.envelope),
    ...expected.absent.flatMap((place) =>
      compareExactly(`${path}.envelope.${place}`, MISSING, at(actual.envelope, place)),
    ),
  ];
}

function compareEnvelope(path: string, expected: Fields, actual: Fields): Difference[] {
  const { status: expectedStatus, ...expectedRest } = withoutEmptyHeaders(expected);
  const { status: actualStatus, ...actualRest } = withoutEmptyHeaders(actual);
  const keys = new Set([...Object.keys(expectedRest), ...Object.keys(actualRest)]);
  const differences = [...keys].flatMap((key) =>
    isDerived(expectedRest[key])
      ? compareDerived(`${path}.${key}`, actualRest[key])
      : compareExactly(
          `${path}.${key}`,
          key in expectedRest ? expectedRest[key] : MISSING,
          key in actualRest ? actualRest[key] : MISSING,
        ),
  );
  if (expectedStatus === undefined) {
    return actualStatus === undefined
      ? differences
      : [...differences, { path: `${path}.status`, expected: MISSING, actual: actualStatus }];
  }
  return [...differences, ...compareListed(`${path}.status`, expectedStatus as Fields, actualStatus)];
}

/** An empty `headers` object equals an absent one. */
function withoutEmptyHeaders(envelope: Fields): Fields {
  const { headers, ...rest } = envelope;
  const isEmpty = headers === undefined || isDeepStrictEqual(headers, {});
  return isEmpty ? rest : envelope;
}

function isDerived(value: unknown): boolean {
  return isDeepStrictEqual(value, { $derived: true });
}

function compareDerived(path: string, actual: unknown): Difference[] {
  const isId = typeof actual === 'string' && actual !== '';
  return isId ? [] : [{ path, expected: 'a derived id', actual }];
}

/** Derived ids must differ from the parent's id and from each other. */
export function compareIds(
  parentId: unknown,
  sends: readonly ActualSend[],
  expected: readonly ExpectedSend[],
): Difference[] {
  const derived = sends
    .filter((_, index) => isDerived(expected[index]?.envelope['id']))
    .map(({ envelope }) => envelope['id']);
  const isDistinct = new Set([...derived, parentId]).size === derived.length + 1;
  return isDistinct
    ? []
    : [{ path: 'derived ids', expected: "distinct, and different from the parent's", actual: derived }];
}

function at(envelope: Fields, place: string): unknown {
  let value: unknown = envelope;
  for (const step of place.split('.')) {
    if (typeof value !== 'object' || value === null || !(step in value)) return MISSING;
    value = (value as Fields)[step];
  }
  return value;
}
