import { shownValue } from './complaint.ts';
import { type Notes, noteUnknownKeys } from './mistake.ts';
import { suggestion } from './nearest.ts';
import { BUILT_IN_POLICIES, type Pattern, type Policy, type Resiliency, type Rule } from './policy.ts';
import { compilePolicy, isPlainObject, type PolicyInput, policyInput } from './policy-input.ts';
import { patternFromText, patternText } from './policy-match.ts';

/** What the user writes: policies by name, and rules that say which error gets which. */
export interface ResiliencyInput {
  readonly policies: Readonly<Record<string, PolicyInput>>;
  readonly rules: readonly RuleInput[];
}

export interface RuleInput {
  readonly errors: readonly string[];
  readonly policy: string;
}

/** Compiles both, and notes every mistake in either. */
export function compileResiliency(
  policies: unknown,
  rules: unknown,
  notes: { readonly policies: Notes; readonly rules: Notes },
): Resiliency {
  const compiled = compilePolicies(policies, notes.policies);
  return { policies: compiled, rules: compileRules(rules, compiled, notes.rules) };
}

function compilePolicies(input: unknown, notes: Notes): ReadonlyMap<string, Policy> {
  if (!isPlainObject(input)) {
    notes.add(`is ${shownValue(input)}, not an object of policies like {"default":{"maxAttempts":3}}`);
    return new Map();
  }
  return new Map(
    Object.entries(input).map(([name, policy]) => [name, compilePolicy(policy, notes.at(name))]),
  );
}

function compileRules(input: unknown, policies: ReadonlyMap<string, Policy>, notes: Notes): readonly Rule[] {
  if (!Array.isArray(input)) {
    notes.add(
      `is ${shownValue(input)}, not a list of rules like [{"errors":["ValueError"],"policy":"noRetry"}]`,
    );
    return [];
  }
  return input.map((rule, index) => compileRule(rule, policies, notes.at(index)));
}

function compileRule(input: unknown, policies: ReadonlyMap<string, Policy>, notes: Notes): Rule {
  if (!isPlainObject(input)) {
    notes.add(`is ${shownValue(input)}, not a rule like {"errors":["ValueError"],"policy":"noRetry"}`);
    return { errors: [], policy: '' };
  }
  noteUnknownKeys(notes, input, ['errors', 'policy']);
  const { errors, policy } = input;
  return {
    errors: compilePatterns(errors, notes.at('errors')),
    policy: compileName(policy, policies, notes),
  };
}

function compilePatterns(errors: unknown, notes: Notes): readonly Pattern[] {
  if (!Array.isArray(errors) || errors.length === 0) {
    notes.add(`is ${shownValue(errors)}, not a list of errors like ["ValueError","http:503"]`);
    return [];
  }
  return errors.flatMap((text, index) => {
    const pattern = typeof text === 'string' ? patternFromText(text) : undefined;
    if (pattern !== undefined) return [pattern];
    notes.at(index).add(`is ${shownValue(text)}, neither an error's name nor "http:503" nor "http:5xx"`);
    return [];
  });
}

function compileName(name: unknown, policies: ReadonlyMap<string, Policy>, notes: Notes): string {
  if (typeof name === 'string' && (policies.has(name) || BUILT_IN_POLICIES.has(name))) return name;
  const known = [...policies.keys(), ...BUILT_IN_POLICIES.keys()];
  const meant = typeof name === 'string' ? suggestion(name, known) : '';
  notes.at('policy').add(`is ${shownValue(name)}, the name of no policy${meant}`);
  return '';
}

/** The inverse: what a user would have written for it. */
export function resiliencyInput(resiliency: Resiliency): ResiliencyInput {
  return {
    policies: Object.fromEntries(
      [...resiliency.policies].map(([name, policy]) => [name, policyInput(policy)]),
    ),
    rules: resiliency.rules.map(({ errors, policy }) => ({ errors: errors.map(patternText), policy })),
  };
}
