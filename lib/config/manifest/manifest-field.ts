import { ACTOR_NAME_RULE, isActorName, isCrewName, isRoutableName } from '../../core/envelope/actor-name.ts';
import { describeReceived, describeValue } from '../../core/text/describe-value.ts';
import { DURATION_RULE, durationMs } from '../../core/text/duration.ts';
import { type Fields, isFields } from '../../core/text/fields.ts';
import type { MistakeCollector } from '../../core/text/mistake.ts';
import { suggestion } from '../../core/text/nearest.ts';

/** The value, or undefined and a note of what would be right. */
export type ReadField<T> = (value: unknown, notes: MistakeCollector) => T | undefined;

/** A field that may be left out; where it is wrong, its default stands in. */
export function optional<T, F>(
  value: unknown,
  notes: MistakeCollector,
  read: ReadField<T>,
  fallback: F,
): T | F {
  return value === undefined ? fallback : (read(value, notes) ?? fallback);
}

export const readMap: ReadField<Fields> = (value, notes) => {
  if (isFields(value)) return value;
  notes.add(`${describeReceived(value)}, not fields with values`);
  return undefined;
};

export const readList: ReadField<readonly unknown[]> = (value, notes) => {
  if (Array.isArray(value)) return value;
  notes.add(`${describeReceived(value)}, not a list; [] is an empty one`);
  return undefined;
};

export const readText: ReadField<string> = (value, notes) => {
  if (typeof value === 'string' && value.trim() !== '') return value;
  notes.add(`${describeReceived(value)}; it takes some text`);
  return undefined;
};

export function wholeNumberFrom(from: number, to: number, what = 'a whole number'): ReadField<number> {
  return (value, notes) => {
    if (Number.isSafeInteger(value) && Number(value) >= from && Number(value) <= to) return Number(value);
    notes.add(`${describeReceived(value)}; it takes ${what} from ${from} to ${to}`);
    return undefined;
  };
}

export const readDurationMs: ReadField<number> = (value, notes) => {
  const milliseconds = durationMs(value);
  if (milliseconds === undefined)
    notes.add(`${describeReceived(value)}; ${DURATION_RULE}${meantDuration(value)}`);
  return milliseconds;
};

/** For what a broker or a cloud counts in seconds. */
export function wholeSecondsFrom(from: number, to: number): ReadField<number> {
  return (value, notes) => {
    const milliseconds = readDurationMs(value, notes);
    if (milliseconds === undefined) return undefined;
    const seconds = milliseconds / 1000;
    if (Number.isInteger(seconds) && seconds >= from && seconds <= to) return seconds;
    notes.add(`is ${describeValue(value)}; it takes whole seconds, "${from}s" to "${to}s"`);
    return undefined;
  };
}

const UNITS: Readonly<Record<string, string>> = {
  s: 's',
  sec: 's',
  second: 's',
  m: 'm',
  min: 'm',
  minute: 'm',
  h: 'h',
  hr: 'h',
  hour: 'h',
  ms: 'ms',
  milli: 'ms',
  millisecond: 'ms',
};

/** `30` and `5 minutes`, as they would be right. */
function meantDuration(value: unknown): string {
  const [, count, word = ''] = /^(\d+(?:\.\d+)?)\s*([a-z]*?)s?$/i.exec(plainText(value)) ?? [];
  const unit = word === '' ? 's' : UNITS[word.toLowerCase()];
  return count === undefined || unit === undefined ? '' : `; did you mean "${count}${unit}"?`;
}

/** What is neither text nor a number is no word: an object may have a `toString` of its own that is none. */
export function plainText(value: unknown): string {
  return typeof value === 'string' || typeof value === 'number' ? String(value) : '';
}

/** The name under which an actor or a flow is declared. */
export function readName(rule = ACTOR_NAME_RULE): ReadField<string> {
  return (value, notes) => {
    if (isRoutableName(value)) return value;
    notes.add(
      isActorName(value)
        ? `is "${value}"; names that begin with "x-" are the mesh's own`
        : `${describeReceived(value)}; ${rule}${meantName(value)}`,
    );
    return undefined;
  };
}

function meantName(value: unknown): string {
  const name = dnsLabelLike(value).replace(/^(x-)+/, '');
  return isRoutableName(name) ? `; did you mean "${name}"?` : '';
}

/** What somebody probably meant: `scoreImage` as `score-image`. */
function dnsLabelLike(value: unknown): string {
  return plainText(value)
    .replace(/([a-z0-9])([A-Z])/g, '$1-$2')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-+|-+$/g, '');
}

const NAMESPACE_RULE =
  'a namespace is 1 to 63 characters of a-z, 0-9 and "-", with no "-" at either end, as in Kubernetes';

/** A namespace of Kubernetes, which is a DNS label. */
export const readNamespace: ReadField<string> = (value, notes) => {
  if (isActorName(value)) return value;
  const meant = dnsLabelLike(value);
  notes.add(
    `${describeReceived(value)}; ${NAMESPACE_RULE}${isActorName(meant) ? `; did you mean "${meant}"?` : ''}`,
  );
  return undefined;
};

/** Somewhere that an actor is named: whether there is one is known when everything has been read. */
export interface Reference {
  readonly name: unknown;
  readonly notes: MistakeCollector;
}

/** Notes a reference to nobody; where not all names could be read (`known` undefined), only one that none can have. */
export function noteReference({ name, notes }: Reference, known: ReadonlySet<string> | undefined): void {
  const problem = referenceProblem(name, known);
  if (problem !== undefined) notes.add(problem);
}

function referenceProblem(name: unknown, known: ReadonlySet<string> | undefined): string | undefined {
  if (typeof name !== 'string') return `${describeReceived(name)}; it takes an actor's name`;
  if (isActorName(name) && isCrewName(name)) return `is "${name}"; the mesh's own actors stand in no route`;
  if (known === undefined)
    return isActorName(name) ? undefined : `is ${describeValue(name)}; ${ACTOR_NAME_RULE}`;
  if (known.has(name)) return undefined;
  return `is ${describeValue(name)}, no actor of this mesh${suggestion(name, known)}`;
}

/** The names in a list of references; those that are no text are told with the references. */
export function namesIn(references: readonly Reference[]): readonly string[] {
  return references.map(({ name }) => plainText(name));
}
