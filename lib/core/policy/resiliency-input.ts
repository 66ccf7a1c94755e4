import { describeReceived, describeValue } from '../text/describe-value.ts';
import { isFields } from '../text/fields.ts';
import { addUnknownKeys, type MistakeCollector } from '../text/mistake.ts';
import { suggestion } from '../text/nearest.ts';
import { BUILT_IN_POLICIES, type Pattern, type Policy, type Resiliency, type Rule } from './policy.ts';
import { compilePolicy, type PolicyInput, policyInput } from './policy-input.ts';
import { patternFromText, patternText } from './policy-match.ts';

/** What the user writes: policies by name, and rules that say which error gets which. */
export interface ResiliencyInput {
  readonly policies: Readonly<Record<string, PolicyInput>>;
  readonly rules: readonly RuleInput[];
}

/**
 * Which policy handles which errors. The first rule with a matching error applies.
 *
 * @public
 */
export interface RuleInput {
  readonly errors: readonly string[];
  readonly policy: string;
}

/** Stands for a text that could not be parsed: that mistake is noted already, and what follows from it is none. */
export const NOT_JSON = Symbol('not JSON');

/** Compiles both, and notes every mistake in either. */
export function compileResiliency(
  policies: unknown,
  rules: unknown,
  notes: { readonly policies: MistakeCollector; readonly rules: MistakeCollector },
): Resiliency {
  const compiled = compilePolicies(policies, notes.policies);
  return { policies: compiled ?? new Map(), rules: compileRules(rules, compiled, notes.rules) };
}

/** Undefined where nobody knows which policies were meant. */
function compilePolicies(input: unknown, notes: MistakeCollector): ReadonlyMap<string, Policy> | undefined {
  if (input === NOT_JSON) return undefined;
  if (!isFields(input)) {
    notes.add(`is ${describeValue(input)}, not an object of policies like {"default":{"maxAttempts":3}}`);
    return undefined;
  }
  return new Map(
    Object.entries(input).map(([name, policy]) => [name, compilePolicy(policy, notes.at(name))]),
  );
}

type KnownPolicies = ReadonlyMap<string, Policy> | undefined;

function compileRules(input: unknown, policies: KnownPolicies, notes: MistakeCollector): readonly Rule[] {
  if (input === NOT_JSON) return [];
  if (!Array.isArray(input)) {
    notes.add(
      `is ${describeValue(input)}, not a list of rules like [{"errors":["ValueError"],"policy":"noRetry"}]`,
    );
    return [];
  }
  return input.map((rule, index) => compileRule(rule, policies, notes.at(index)));
}

function compileRule(input: unknown, policies: KnownPolicies, notes: MistakeCollector): Rule {
  if (!isFields(input)) {
    notes.add(`is ${describeValue(input)}, not a rule like {"errors":["ValueError"],"policy":"noRetry"}`);
    return { errors: [], policy: '' };
  }
  addUnknownKeys(notes, input, ['errors', 'policy']);
  const { errors, policy } = input;
  return {
    errors: compilePatterns(errors, notes.at('errors')),
    policy: compileName(policy, policies, notes),
  };
}

function compilePatterns(errors: unknown, notes: MistakeCollector): readonly Pattern[] {
  if (!Array.isArray(errors) || errors.length === 0) {
    notes.add(`${describeReceived(errors)}, not a list of errors like ["ValueError","http:503"]`);
    return [];
  }
  return errors.flatMap((text, index) => {
    const pattern = typeof text === 'string' ? patternFromText(text) : undefined;
    if (pattern !== undefined) return [pattern];
    notes.at(index).add(`is ${describeValue(text)}, neither an error's name nor "http:503" nor "http:5xx"`);
    return [];
  });
}

function compileName(name: unknown, policies: KnownPolicies, notes: MistakeCollector): string {
  const known = [...(policies?.keys() ?? []), ...BUILT_IN_POLICIES.keys()];
  if (typeof name === 'string' && (known.includes(name) || policies === undefined)) return name;
  const meant = typeof name === 'string' ? suggestion(name, known) : `; there are ${known.join(', ')}`;
  notes.at('policy').add(`${describeReceived(name)}, and a policy's name is needed${meant}`);
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
