import { describeReceived, describeValue } from '../text/describe-value.ts';
import { isFields } from '../text/fields.ts';
import { addUnknownKeys, type MistakeCollector } from '../text/mistake.ts';
import { suggestion } from '../text/nearest.ts';
import { BUILT_IN_POLICIES, type Pattern, type Policy, type Resiliency, type Rule } from './policy.ts';
import { compilePolicy, type PolicyInput, policyInput } from './policy-input.ts';
import { patternFromText, patternText } from './policy-match.ts';

/** Policies and rules as the user writes them: policies by name, and rules that select a policy for an error. */
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

/** Replaces text that is not JSON. That mistake was added already, and mistakes that follow from it are not. */
export const NOT_JSON = Symbol('not JSON');

/** Validates and compiles policies and rules. If it adds mistakes, the returned value must not be used. */
export function compileResiliency(
  policies: unknown,
  rules: unknown,
  mistakes: { readonly policies: MistakeCollector; readonly rules: MistakeCollector },
): Resiliency {
  const compiled = compilePolicies(policies, mistakes.policies);
  return { policies: compiled ?? new Map(), rules: compileRules(rules, compiled, mistakes.rules) };
}

/** Undefined if the input is invalid as a whole, so that the names of its policies are unknown. */
function compilePolicies(
  input: unknown,
  mistakes: MistakeCollector,
): ReadonlyMap<string, Policy> | undefined {
  if (input === NOT_JSON) return undefined;
  if (!isFields(input)) {
    mistakes.add(
      `is ${describeValue(input)}; expected an object of policies like {"default":{"maxAttempts":3}}`,
    );
    return undefined;
  }
  return new Map(
    Object.entries(input).map(([name, policy]) => [name, compilePolicy(policy, mistakes.at(name))]),
  );
}

type KnownPolicies = ReadonlyMap<string, Policy> | undefined;

function compileRules(input: unknown, policies: KnownPolicies, mistakes: MistakeCollector): readonly Rule[] {
  if (input === NOT_JSON) return [];
  if (!Array.isArray(input)) {
    mistakes.add(
      `is ${describeValue(input)}; expected a list of rules like [{"errors":["ValueError"],"policy":"noRetry"}]`,
    );
    return [];
  }
  return input.map((rule, index) => compileRule(rule, policies, mistakes.at(index)));
}

function compileRule(input: unknown, policies: KnownPolicies, mistakes: MistakeCollector): Rule {
  if (!isFields(input)) {
    mistakes.add(
      `is ${describeValue(input)}; expected a rule like {"errors":["ValueError"],"policy":"noRetry"}`,
    );
    return { errors: [], policy: '' };
  }
  addUnknownKeys(mistakes, input, ['errors', 'policy']);
  const { errors, policy } = input;
  return {
    errors: compilePatterns(errors, mistakes.at('errors')),
    policy: compileName(policy, policies, mistakes),
  };
}

function compilePatterns(errors: unknown, mistakes: MistakeCollector): readonly Pattern[] {
  if (!Array.isArray(errors) || errors.length === 0) {
    mistakes.add(`${describeReceived(errors)}; expected a list of errors like ["ValueError","http:503"]`);
    return [];
  }
  return errors.flatMap((text, index) => {
    const pattern = typeof text === 'string' ? patternFromText(text) : undefined;
    if (pattern !== undefined) return [pattern];
    mistakes
      .at(index)
      .add(
        `is ${describeValue(text)}; expected an error name such as "ValueError", "http:503" or "http:5xx"${httpHint(text)}`,
      );
    return [];
  });
}

/** `429`, `5xx`, `HTTP:503` and `http:5x` are probably HTTP statuses. */
function httpHint(text: unknown): string {
  if (typeof text !== 'string' && typeof text !== 'number') return '';
  const [, hundreds, rest] = /^(?:https?[\s:_-]*)?([1-5])(\d\d|[x*]{1,3}|)$/i.exec(String(text).trim()) ?? [];
  if (hundreds === undefined || rest === undefined) return '';
  return `; did you mean "http:${hundreds}${/^\d/.test(rest) ? rest : 'xx'}"?`;
}

function compileName(name: unknown, policies: KnownPolicies, mistakes: MistakeCollector): string {
  const known = [...(policies?.keys() ?? []), ...BUILT_IN_POLICIES.keys()];
  if (typeof name === 'string' && (known.includes(name) || policies === undefined)) return name;
  const hint = typeof name === 'string' ? suggestion(name, known) : `: ${known.join(', ')}`;
  mistakes.at('policy').add(`${describeReceived(name)}; expected the name of a policy${hint}`);
  return '';
}

/** The inverse of `compileResiliency`: policies and rules as a user would write them. */
export function resiliencyInput(resiliency: Resiliency): ResiliencyInput {
  return {
    policies: Object.fromEntries(
      [...resiliency.policies].map(([name, policy]) => [name, policyInput(policy)]),
    ),
    rules: resiliency.rules.map(({ errors, policy }) => ({ errors: errors.map(patternText), policy })),
  };
}
