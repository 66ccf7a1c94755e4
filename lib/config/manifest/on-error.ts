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
 * `onError: <actor>` said in policies and rules, which is all that a sidecar knows. What is exhausted and has no
 * `onExhausted` of its own goes to that actor, and so does what no policy covers:
 *
 * - a policy that would end at the sink ends there, the built-in `noRetry` and `nonretryable` too where a rule names
 *   them;
 * - without a `default`, one is added that allows one attempt; so that it does not take the built-in retries from a
 *   runtime that cannot be reached, a last rule gives these to `RuntimeConnectionError`;
 * - a last rule takes the actor's timeout, with one attempt: the default alone must not repeat what hung, and without
 *   a rule it would end at the sink.
 *
 * The rules are added behind the user's, so whatever the user says of these errors wins.
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

/** What `{}` compiles to: written down and read again, it is the same. */
const ONE_ATTEMPT = {
  maxAttempts: 1,
  backoff: { kind: 'exponential', initialMs: 0 },
  jitter: false,
  exhaustedReason: 'PolicyExhausted',
} as const satisfies Omit<Policy, 'onExhausted'>;

/** How it would end at the sink no longer matters, and cannot be written down. */
function rescued(policy: Policy, onExhausted: Exhaustion): Policy {
  return policy.onExhausted.action === 'sink'
    ? { ...policy, onExhausted, exhaustedReason: 'PolicyExhausted' }
    : policy;
}

/** Under that name, or one like it that the user has not taken. */
function add(policies: Map<string, Policy>, wanted: string, policy: Policy): string {
  let name = wanted;
  while (policies.has(name)) name += '-';
  policies.set(name, policy);
  return name;
}
