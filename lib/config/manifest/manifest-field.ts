import {
  ACTOR_NAME_RULE,
  isActorName,
  isReservedName,
  isRoutableName,
} from '../../core/envelope/actor-name.ts';
import { describeReceived, describeValue } from '../../core/text/describe-value.ts';
import { DURATION_RULE, durationMs } from '../../core/text/duration.ts';
import { type Fields, isFields } from '../../core/text/fields.ts';
import type { MistakeCollector } from '../../core/text/mistake.ts';
import { suggestion } from '../../core/text/nearest.ts';

/** Returns the value, or reports a mistake and returns undefined. */
export type ReadField<T> = (value: unknown, notes: MistakeCollector) => T | undefined;

/** Reads an optional field. If it is missing or not valid, the default applies. */
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
  notes.add(`${describeReceived(value)}; expected a map of fields`);
  return undefined;
};

export const readList: ReadField<readonly unknown[]> = (value, notes) => {
  if (Array.isArray(value)) return value;
  notes.add(`${describeReceived(value)}; expected a list ([] for an empty one)`);
  return undefined;
};

export const readText: ReadField<string> = (value, notes) => {
  if (typeof value === 'string' && value.trim() !== '') return value;
  notes.add(`${describeReceived(value)}; expected text`);
  return undefined;
};

export function wholeNumberFrom(from: number, to: number, what = 'a whole number'): ReadField<number> {
  return (value, notes) => {
    if (Number.isSafeInteger(value) && Number(value) >= from && Number(value) <= to) return Number(value);
    notes.add(`${describeReceived(value)}; expected ${what} from ${from} to ${to}`);
    return undefined;
  };
}

export const readDurationMs: ReadField<number> = (value, notes) => {
  const milliseconds = durationMs(value);
  if (milliseconds === undefined)
    notes.add(`${describeReceived(value)}; ${DURATION_RULE}${durationSuggestion(value)}`);
  return milliseconds;
};

/** A duration that the broker or cloud counts in whole seconds. */
export function wholeSecondsFrom(from: number, to: number): ReadField<number> {
  return (value, notes) => {
    const milliseconds = durationMs(value);
    const seconds = (milliseconds ?? Number.NaN) / 1000;
    if (Number.isInteger(seconds) && seconds >= from && seconds <= to) return seconds;
    const meant = milliseconds === undefined ? durationSuggestion(value) : '';
    notes.add(`${describeReceived(value)}; expected whole seconds, "${from}s" to "${to}s"${meant}`);
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

/** Suggests the valid form of `30` and `5 minutes`. */
function durationSuggestion(value: unknown): string {
  const [, count, word = ''] = /^(\d+(?:\.\d+)?)\s*([a-z]*?)s?$/i.exec(plainText(value)) ?? [];
  const unit = word === '' ? 's' : UNITS[word.toLowerCase()];
  return count === undefined || unit === undefined ? '' : `; did you mean "${count}${unit}"?`;
}

/** Text and numbers as text, anything else as empty text: the `toString` of an object may not be a function. */
export function plainText(value: unknown): string {
  return typeof value === 'string' || typeof value === 'number' ? String(value) : '';
}

/** The name under which an actor or a flow is declared. */
export function readName(rule = ACTOR_NAME_RULE): ReadField<string> {
  return (value, notes) => {
    if (isRoutableName(value)) return value;
    notes.add(
      isActorName(value)
        ? `is "${value}"; names that start with "x-" are reserved for the mesh`
        : `${describeReceived(value)}; ${rule}${nameSuggestion(value)}`,
    );
    return undefined;
  };
}

function nameSuggestion(value: unknown): string {
  const name = dnsLabelLike(value).replace(/^(x-)+/, '');
  return isRoutableName(name) ? `; did you mean "${name}"?` : '';
}

/** The likely intended name: `score-image` for `scoreImage`. */
function dnsLabelLike(value: unknown): string {
  return plainText(value)
    .replace(/([a-z0-9])([A-Z])/g, '$1-$2')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-+|-+$/g, '');
}

const NAMESPACE_RULE =
  'a namespace is 1 to 63 characters of a-z, 0-9 and "-", with no "-" at either end, as in Kubernetes';

/** A Kubernetes namespace, which is a DNS label. */
export const readNamespace: ReadField<string> = (value, notes) => {
  if (isActorName(value)) return value;
  const meant = dnsLabelLike(value);
  notes.add(
    `${describeReceived(value)}; ${NAMESPACE_RULE}${isActorName(meant) ? `; did you mean "${meant}"?` : ''}`,
  );
  return undefined;
};

/** A reference to an actor, checked after all documents have been read. */
export interface Reference {
  readonly name: unknown;
  readonly notes: MistakeCollector;
}

/** Reports a reference to an unknown actor. If not all names are known, `known` is undefined: any valid name passes. */
export function checkReference({ name, notes }: Reference, known: ReadonlySet<string> | undefined): void {
  const problem = referenceProblem(name, known);
  if (problem !== undefined) notes.add(problem);
}

function referenceProblem(name: unknown, known: ReadonlySet<string> | undefined): string | undefined {
  if (typeof name !== 'string') return `${describeReceived(name)}; expected the name of an actor`;
  if (isActorName(name) && isReservedName(name))
    return `is "${name}"; a route cannot contain a crew actor, whose name starts with "x-"`;
  if (known === undefined)
    return isActorName(name) ? undefined : `is ${describeValue(name)}; ${ACTOR_NAME_RULE}`;
  if (known.has(name)) return undefined;
  return `is ${describeValue(name)}, which is not an actor of this mesh${suggestion(name, known)}`;
}

/** The names of references. A name that is not text is reported when the reference is checked. */
export function namesIn(references: readonly Reference[]): readonly string[] {
  return references.map(({ name }) => plainText(name));
}
