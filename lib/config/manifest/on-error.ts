import { CONNECTION_ERROR } from '../../core/envelope/fault.ts';
import {
  BUILT_IN_POLICIES,
  CONNECTION_POLICY,
  DEFAULT_POLICY,
  type Exhaustion,
  type Policy,
  type Resiliency,
  type Rule,
} from '../../core/policy/policy.ts';

/**
 * Translates `onError: <actor>` into policies and rules, which are all that a sidecar knows. The actor receives
 * failures whose policy is exhausted and has no `onExhausted`, and failures without a policy:
 *
 * - a policy that would end at the sink ends at the actor instead, also the built-in `noRetry` and `nonretryable` if a
 *   rule names them;
 * - without a `default`, one with a single attempt is added. A last rule then gives `RuntimeConnectionError` the
 *   built-in retries, so that an unreachable runtime still has them;
 * - a last rule gives the actor's timeout a single attempt: the default must not repeat a call that hung, and without a
 *   rule it would end at the sink.
 *
 * These rules come after the user's, so the user's rules for the same errors win.
 */
export function withOnError(resiliency: Resiliency, onError: string): Resiliency {
  const rescue: Exhaustion = { action: 'route', actors: [onError] };
  const own = new Map(resiliency.policies);
  for (const { policy } of resiliency.rules) {
    const builtIn = BUILT_IN_POLICIES.get(policy);
    if (builtIn !== undefined && !own.has(policy)) own.set(policy, builtIn);
  }
  const policies = new Map([...own].map(([name, policy]) => [name, rescued(policy, rescue)]));
  const rules: Rule[] = [...resiliency.rules];
  const atOnce = add(policies, 'onError', { ...ONE_ATTEMPT, onExhausted: rescue });
  if (!own.has(DEFAULT_POLICY)) {
    policies.set(DEFAULT_POLICY, { ...ONE_ATTEMPT, onExhausted: rescue });
    const connection = add(policies, 'connection', rescued(CONNECTION_POLICY, rescue));
    rules.push({ errors: [{ kind: 'last-name', name: CONNECTION_ERROR }], policy: connection });
  }
  rules.push({ errors: [{ kind: 'last-name', name: ACTOR_TIMEOUT }], policy: atOnce });
  return { policies, rules };
}

const ACTOR_TIMEOUT = 'ActorTimeout';

/** The same as `{}` compiles to, so that writing and reading it does not change it. */
const ONE_ATTEMPT = {
  maxAttempts: 1,
  backoff: { kind: 'exponential', initialMs: 0 },
  jitter: false,
  exhaustedReason: 'PolicyExhausted',
} as const satisfies Omit<Policy, 'onExhausted'>;

/** The reason for an end at the sink no longer applies, and cannot be written as a policy. */
function rescued(policy: Policy, onExhausted: Exhaustion): Policy {
  return policy.onExhausted.action === 'sink'
    ? { ...policy, onExhausted, exhaustedReason: 'PolicyExhausted' }
    : policy;
}

/** Adds the policy under this name, or a similar one if the user has a policy with this name. */
function add(policies: Map<string, Policy>, wanted: string, policy: Policy): string {
  let name = wanted;
  while (policies.has(name)) name += '-';
  policies.set(name, policy);
  return name;
}
