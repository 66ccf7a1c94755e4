import type { Fault } from '../envelope/fault.ts';
import {
  BUILT_IN_POLICIES,
  DEFAULT_POLICY,
  ONE_ATTEMPT,
  type Pattern,
  type Policy,
  type Resiliency,
} from './policy.ts';

type MatchableFault = Pick<Fault, 'type' | 'mro' | 'httpStatus'>;

/** The policy that applies to an error, and the rule that selected it. */
export interface Match {
  readonly policy: Policy;
  readonly policyName: string;
  /** The index of the matching rule. Undefined if no rule matches and the default policy applies. */
  readonly rule?: number;
}

/** The policy of the first matching rule; undefined if no rule matches. */
export function matchRule(resiliency: Resiliency, fault: MatchableFault): Match | undefined {
  for (const [index, rule] of resiliency.rules.entries()) {
    const policy = resiliency.policies.get(rule.policy) ?? BUILT_IN_POLICIES.get(rule.policy);
    if (policy !== undefined && rule.errors.some((pattern) => matches(pattern, fault))) {
      return { policy, policyName: rule.policy, rule: index };
    }
  }
  return undefined;
}

/**
 * The policy of the first matching rule, or the default policy; undefined if there is neither. A `NonRetryable` that no
 * rule matches is treated at once as the default policy treats its last failure.
 */
export function matchPolicy(resiliency: Resiliency, fault: MatchableFault): Match | undefined {
  const byRule = matchRule(resiliency, fault);
  if (byRule !== undefined) return byRule;
  const policy = resiliency.policies.get(DEFAULT_POLICY);
  if (matches(NON_RETRYABLE, fault)) {
    const onExhausted = policy?.onExhausted ?? ONE_ATTEMPT.onExhausted;
    return { policy: { ...ONE_ATTEMPT, onExhausted }, policyName: 'nonretryable' };
  }
  return policy === undefined ? undefined : { policy, policyName: DEFAULT_POLICY };
}

/** The error with which a handler says that a retry cannot help. Both bundled runtimes report it by this name. */
const NON_RETRYABLE: Pattern = { kind: 'full-name', name: 'asya.NonRetryable' };

/** Whether an error matches a pattern: by one of its type names or by its HTTP status. */
export function matches(pattern: Pattern, fault: MatchableFault): boolean {
  switch (pattern.kind) {
    case 'full-name':
      return fault.type === pattern.name || fault.mro.includes(pattern.name);
    case 'last-name':
      return (
        lastName(fault.type) === pattern.name || fault.mro.some((name) => lastName(name) === pattern.name)
      );
    case 'http-status':
      return fault.httpStatus === pattern.status;
    case 'http-class':
      return fault.httpStatus !== undefined && Math.floor(fault.httpStatus / 100) === pattern.hundreds;
  }
}

function lastName(name: string): string {
  return name.slice(name.lastIndexOf('.') + 1);
}

const HTTP_PATTERN = /^http:(?:([1-5]\d\d)|([1-5])xx)$/;

/** Without spaces, stars and commas; not starting with a digit or dot, nor ending with a dot. */
const ERROR_NAME = /^[^\s*,.\d](?:[^\s*,]*[^\s*,.])?$/;

/** Parses `ValueError`, `pkg.ValueError`, `http:503` or `http:5xx`. Undefined for any other text. */
export function patternFromText(text: string): Pattern | undefined {
  if (text.startsWith('http:')) {
    const [, status, hundreds] = HTTP_PATTERN.exec(text) ?? [];
    if (status !== undefined) return { kind: 'http-status', status: Number(status) };
    return hundreds === undefined ? undefined : { kind: 'http-class', hundreds: Number(hundreds) };
  }
  if (!ERROR_NAME.test(text) || /^http:/i.test(text)) return undefined;
  return { kind: text.includes('.') ? 'full-name' : 'last-name', name: text };
}

/** The inverse of `patternFromText`. */
export function patternText(pattern: Pattern): string {
  switch (pattern.kind) {
    case 'full-name':
    case 'last-name':
      return pattern.name;
    case 'http-status':
      return `http:${pattern.status}`;
    case 'http-class':
      return `http:${pattern.hundreds}xx`;
  }
}
