import { builtInErrors, type ErrorLanguage, standardError } from '../../core/policy/standard-errors.ts';
import { editDistance } from '../../core/text/nearest.ts';

/** Errors that a sidecar reports for every runtime. */
const SIDECAR_ERRORS = [
  'ActorTimeout',
  'RuntimeConnectionError',
  'ValidationError',
  'HTTPError',
  'StreamError',
];

/** Errors that handlers import from the library, by the name that both runtimes report. */
const LIBRARY_ERRORS = ['asya.NonRetryable', 'asya.RetryAfter'];

/** One letter is missing or added, or wrong, or two are swapped. Classes of users are often as near as two such edits. */
const MAX_DISTANCE = 2;
/** In a short name, one wrong letter can make another word: `OSError`, `IOError`. */
const SHORT = 8;

/** What is wrong with the name of an error in a rule: no error has it. Undefined if some error may have it. */
export function errorNameProblem(name: string, language: ErrorLanguage | undefined): string | undefined {
  const status = /^https?[-_ ]?([1-5](?:\d\d|xx))$/i.exec(name)?.[1]?.toLowerCase();
  if (status !== undefined) return `, which is read as the name of an error; did you mean "http:${status}"?`;
  if (name.startsWith('http:')) return undefined;
  if (language === 'python') {
    const standard = standardError(name, language);
    if (standard !== undefined && standard.name !== name && name.includes('.'))
      return `, but the runtime reports this error as "${standard.name}"; use that name`;
    if (standard !== undefined && ALIASES.includes(name))
      return `, which is another name of ${standard.name} in Python; use "${standard.name}"`;
  }
  const meant = meantName(name, language);
  return meant === undefined ? undefined : `, which is not a standard error; did you mean "${meant}"?`;
}

const ALIASES: readonly string[] = ['IOError', 'EnvironmentError'];

/** The known name of which this one is probably a misspelling. */
function meantName(name: string, language: ErrorLanguage | undefined): string | undefined {
  const languages: readonly ErrorLanguage[] = language === undefined ? ['python', 'node'] : [language];
  // Rules for several actors may name errors of both languages.
  const isStandard = (['python', 'node'] as const).some((one) => standardError(name, one) !== undefined);
  if (isStandard || SIDECAR_ERRORS.includes(name) || LIBRARY_ERRORS.includes(name)) return undefined;
  const known = name.includes('.')
    ? LIBRARY_ERRORS
    : [...SIDECAR_ERRORS, ...languages.flatMap(builtInErrors)];
  const limit = name.length < SHORT ? 1 : MAX_DISTANCE;
  const near = known
    .filter((one) => !isExtended(name, one))
    .map((one) => ({ one, distance: editDistance(name.toLowerCase(), one.toLowerCase()) }));
  return near.filter(({ distance }) => distance <= limit).sort((a, b) => a.distance - b.distance)[0]?.one;
}

/** `MyValueError` is a class of its own, but `VValueError` is a typo. */
function isExtended(name: string, known: string): boolean {
  return name.endsWith(known) && name.length - known.length > 1;
}
