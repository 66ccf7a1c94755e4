import { CONNECTION_ERROR, type Fault, statusErrorFromFault } from '../envelope/fault.ts';
import { headerText, ON_ERROR, withoutHeader } from '../envelope/headers.ts';
import { shiftRoute } from '../envelope/route.ts';
import { type ArrivedEnvelope, type DecidedBy, deadlineMs, statusAfter } from '../envelope/status.ts';
import { CONNECTION_POLICY, type Policy } from '../policy/policy.ts';
import { delayAfterAttempt, delayWithRetryAfter } from '../policy/policy-delay.ts';
import { eventTimeMs, isExhausted } from '../policy/policy-exhaustion.ts';
import { type Match, matchPolicy, matchRule } from '../policy/policy-match.ts';
import { defined } from '../text/defined.ts';
import { instantMs } from '../text/timestamp.ts';
import { MIN_TIME_MS } from './admit.ts';
import type { Context } from './context.ts';
import { failureDispatch, planFailure, withFittingError } from './decide-failure.ts';
import { withDelay } from './decide-resend.ts';
import {
  ackAfter,
  dispatchOf,
  type Fact,
  failedFact,
  type Plan,
  type RuntimeErrorType,
  resultFact,
} from './plan.ts';

/** A fault, the envelope that it belongs to, and the facts so far. */
interface FaultCase {
  readonly envelope: ArrivedEnvelope;
  readonly fault: Fault;
  readonly facts: readonly Fact[];
  readonly context: Context;
  /** Undefined if no policy applies. */
  readonly decidedBy?: DecidedBy;
}

/** An `_on_error` header routes the envelope. Otherwise the policy of a rule or the default policy decides. */
export function planFault(
  envelope: ArrivedEnvelope,
  fault: Fault,
  errorType: RuntimeErrorType,
  context: Context,
): Plan {
  const facts: Fact[] = [resultFact('error'), { fact: 'runtime-error', errorType }];
  const onError = headerText(envelope.headers, ON_ERROR);
  if (onError !== undefined) {
    const routed = { ...envelope, headers: withoutHeader(envelope.headers, ON_ERROR) };
    return planRouted({ envelope: routed, fault, facts, context }, [onError]);
  }
  const match = matchFor(fault, errorType, context);
  if (match === undefined) return planWithoutPolicy({ envelope, fault, facts, context }, errorType);
  const { policy, policyName, rule } = match;
  const decidedBy = { policy: policyName, ...defined({ rule }) };
  const maxAttempts = policy.maxAttempts === Number.POSITIVE_INFINITY ? undefined : policy.maxAttempts;
  const policyFact: Fact = { fact: 'policy', ...decidedBy, ...defined({ maxAttempts }) };
  return planByPolicy({ envelope, fault, facts: [...facts, policyFact], context, decidedBy }, policy);
}

/** A timeout is retried only if a rule matches it: the default policy does not repeat a call that hung. */
function matchFor(fault: Fault, errorType: RuntimeErrorType, context: Context): Match | undefined {
  const { resiliency } = context.actor;
  if (errorType === 'timeout') return matchRule(resiliency, fault);
  const match = matchPolicy(resiliency, fault);
  return match === undefined && fault.type === CONNECTION_ERROR
    ? { policy: CONNECTION_POLICY, policyName: 'connection' }
    : match;
}

function planWithoutPolicy(
  { envelope, fault, facts, context }: FaultCase,
  errorType: RuntimeErrorType,
): Plan {
  return errorType === 'timeout'
    ? planFailure(envelope, context, {
        reason: 'ActorTimeout',
        fault,
        facts: [...facts, failedFact('timeout')],
      })
    : planFailure(envelope, context, {
        reason: 'RuntimeError',
        fault,
        facts: [...facts, failedFact('runtime_error')],
      });
}

function planByPolicy(faultCase: FaultCase, policy: Policy): Plan {
  const { envelope, context } = faultCase;
  const { attempt, created_at } = envelope.status;
  const createdMs = instantMs(created_at) ?? context.now;
  return isExhausted(policy, attempt, createdMs, eventTimeMs(envelope, createdMs), context.now)
    ? planExhausted(faultCase, policy)
    : planRetry(faultCase, policy);
}

/** The details of a failure that a policy decided. */
function failureDetails({ fault, decidedBy }: FaultCase, maxAttempts?: number) {
  return {
    fault,
    ...defined({ maxAttempts, decidedBy }),
  };
}

function planRetry(faultCase: FaultCase, policy: Policy): Plan {
  const { envelope, fault, facts, context, decidedBy } = faultCase;
  const { actor, limits, now, random } = context;
  const { maxAttempts } = policy;
  const failure = failureDetails(faultCase, maxAttempts);
  const ownDelayMs = delayAfterAttempt(policy, envelope.status.attempt, random);
  const delayMs = delayWithRetryAfter(policy, ownDelayMs, fault.retryAfter, now);
  const deadline = deadlineMs(envelope);
  if (deadline !== undefined && deadline - (now + delayMs) < MIN_TIME_MS) {
    const expired = [...facts, resultFact('sla_expired'), failedFact('sla_timeout')];
    return planFailure(envelope, context, { reason: 'Timeout', ...failure, facts: expired });
  }
  const unsent = [...facts, failedFact('retry_send_failed')];
  const otherwise = planFailure(envelope, context, { reason: 'RuntimeError', ...failure, facts: unsent });
  if (limits.maxDelayMs === 0) return otherwise;
  const error = statusErrorFromFault(fault);
  const status = statusAfter(envelope.status, {
    phase: 'retrying',
    actor: actor.name,
    now,
    maxAttempts,
    error,
    ...defined({ decidedBy }),
  });
  const retry = withDelay(withFittingError({ ...envelope, status }, error, context), delayMs, context);
  const dispatch = dispatchOf(actor.name, 'retry', retry.envelope, retry.delayMs);
  return ackAfter([dispatch], [...facts, { ...resultFact('retried'), delayMs }], otherwise);
}

function planExhausted(faultCase: FaultCase, policy: Policy): Plan {
  const { envelope, facts, context } = faultCase;
  const { maxAttempts, onExhausted, exhaustedReason } = policy;
  const failure = failureDetails(faultCase, maxAttempts);
  switch (onExhausted.action) {
    case 'route':
      return planRouted(faultCase, onExhausted.actors, maxAttempts);
    case 'escalate': {
      const escalated = { reason: 'Escalated', ...failure } as const;
      const escalation = failureDispatch(onExhausted.topic, 'escalation', envelope, context, escalated);
      const record = failureDispatch(context.actor.sink, 'sink', envelope, context, escalated);
      return ackAfter([escalation, record], [...facts, resultFact('escalated')]);
    }
    case 'drop':
      return planFailure(envelope, context, {
        reason: 'Dropped',
        ...failure,
        facts: [...facts, resultFact('dropped')],
      });
    case 'sink':
      return planFailure(envelope, context, {
        reason: exhaustedReason,
        ...failure,
        facts: [
          ...facts,
          failedFact(exhaustedReason === 'RuntimeError' ? 'runtime_error' : 'policy_exhausted'),
        ],
      });
  }
}

/** Sends the failed envelope to actors that handle errors. Their handlers can read the phase and the error. */
function planRouted(faultCase: FaultCase, actors: readonly string[], maxAttempts?: number): Plan {
  const { envelope, facts, context } = faultCase;
  const route = shiftRoute(envelope.route, actors);
  const dispatch = failureDispatch(route.curr, 'routed', { ...envelope, route }, context, {
    reason: 'PolicyRouted',
    ...failureDetails(faultCase, maxAttempts),
  });
  return ackAfter([dispatch], [...facts, resultFact('policy_routed')]);
}
