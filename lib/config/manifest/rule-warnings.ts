import { actorTimeoutFault, connectionFault, faultOf } from '../../core/envelope/fault.ts';
import type { Pattern } from '../../core/policy/policy.ts';
import { matches, patternFromText } from '../../core/policy/policy-match.ts';
import { type ErrorLanguage, errorAncestry, standardError } from '../../core/policy/standard-errors.ts';
import { isFields } from '../../core/text/fields.ts';
import type { MistakeCollector } from '../../core/text/mistake.ts';
import { errorNameProblem } from './error-name-warnings.ts';
import type { RuntimeSpec } from './manifest.ts';

interface Written {
  readonly rule: number;
  readonly text: string;
  readonly pattern: Pattern;
  readonly notes: MistakeCollector;
}

/**
 * Warns of errors in rules that never match, because an earlier rule matches all of them, and of names that no error
 * has. `rules` is as written. What is not valid in it was reported as a mistake.
 */
export function addRuleWarnings(
  rules: unknown,
  runtime: RuntimeSpec['kind'] | undefined,
  notes: MistakeCollector,
): void {
  const written = writtenPatterns(rules, notes);
  const language = runtime === 'node' || runtime === 'python' ? runtime : undefined;
  for (const [index, one] of written.entries()) {
    const nameProblem = errorNameProblem(one.text, language);
    if (nameProblem !== undefined) {
      one.notes.add(`is "${one.text}"${nameProblem}`);
      continue;
    }
    const earlier = written.slice(0, index).find((before) => isCovered(one, before, language));
    if (earlier !== undefined) one.notes.add(coveredProblem(one, earlier));
  }
}

function writtenPatterns(rules: unknown, notes: MistakeCollector): readonly Written[] {
  if (!Array.isArray(rules)) return [];
  return rules.flatMap((rule: unknown, index) => {
    const errors = isFields(rule) && Array.isArray(rule['errors']) ? rule['errors'] : [];
    return errors.flatMap((text: unknown, at): readonly Written[] => {
      const pattern = typeof text === 'string' ? patternFromText(text) : undefined;
      if (typeof text !== 'string' || pattern === undefined) return [];
      return [{ rule: index, text, pattern, notes: notes.at(index).at('errors').at(at) }];
    });
  });
}

/** Within a rule the order has no effect, so only the same pattern twice is pointless there. */
function isCovered(one: Written, before: Written, language: ErrorLanguage | undefined): boolean {
  if (one.text === before.text) return true;
  return one.rule !== before.rule && coversAll(before.pattern, one.pattern, language);
}

/** Whether an error that matches `narrow` always matches `wide` too. */
function coversAll(wide: Pattern, narrow: Pattern, language: ErrorLanguage | undefined): boolean {
  const anyError = language === undefined ? [] : ['Exception'];
  switch (narrow.kind) {
    case 'http-status':
      return matches(wide, { type: '', mro: anyError, httpStatus: narrow.status });
    case 'http-class':
      return (
        (wide.kind === 'http-class' && wide.hundreds === narrow.hundreds) ||
        matches(wide, { type: '', mro: anyError })
      );
    case 'full-name':
    case 'last-name': {
      const { name } = narrow;
      const own = SIDECAR_FAULTS.filter((fault) => matches(narrow, fault));
      const isOfSidecar = own.some(({ type }) => type === name);
      return (
        own.every((fault) => matches(wide, fault)) &&
        (isOfSidecar || matches(wide, { type: name, mro: mroOf(name, language) }))
      );
    }
  }
}

/** The sidecar reports these for every runtime, with ancestors of their own. */
const SIDECAR_FAULTS = [
  actorTimeoutFault(1),
  connectionFault(''),
  faultOf('HTTPError', '', ['Exception']),
  faultOf('StreamError', '', ['Exception']),
  faultOf('ValidationError', ''),
  faultOf('RuntimeError', ''),
];

/** Of a class that is not standard, only the end of its ancestors is known. Without a language, not even that. */
function mroOf(name: string, language: ErrorLanguage | undefined): readonly string[] {
  if (language === undefined) return [name];
  const isStandard = standardError(name, language)?.name === name;
  return errorAncestry(name, isStandard ? [] : [name], language);
}

function coveredProblem(one: Written, before: Written): string {
  if (one.text === before.text)
    return `is "${one.text}", which is already at ${before.notes.place}; remove one`;
  return `is "${one.text}", which never matches here: "${before.text}" at ${before.notes.place} matches these errors first; put this rule before it`;
}
