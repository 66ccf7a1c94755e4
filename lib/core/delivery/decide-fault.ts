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

/** A fault that was counted, and the envelope it befell. */
interface FaultCase {
  readonly envelope: ArrivedEnvelope;
  readonly fault: Fault;
  readonly facts: readonly Fact[];
  readonly context: Context;
  /** Undefined where no policy was asked. */
  readonly decidedBy?: DecidedBy;
}

/** The `_on_error` header first; then the error counts; then the policy that a rule or the default names. */
export function planFault(
  envelope: ArrivedEnvelope,
  fault: Fault,
  errorType: RuntimeErrorType,
  context: Context,
): Plan {
  const facts: Fact[] = [resultFact('error'), { fact: 'runtime-error', errorType }];
  const onError = headerText(envelope.headers, ON_ERROR);
  if (onError !== undefined) {
    const freed = { ...envelope, headers: withoutHeader(envelope.headers, ON_ERROR) };
    return planRouted({ envelope: freed, fault, facts, context }, [onError]);
  }
  const match = matchFor(fault, errorType, context);
  if (match === undefined) return planWithoutPolicy({ envelope, fault, facts, context }, errorType);
  const { policy, policyName, rule } = match;
  const decidedBy = { policy: policyName, ...defined({ rule }) };
  const told: Fact[] = [...facts, { fact: 'policy', ...decidedBy }];
  return planByPolicy({ envelope, fault, facts: told, context, decidedBy }, policy);
}

/** A timeout is retried only where a rule says so: the default alone never repeats work that hung. */
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

function planByPolicy(happened: FaultCase, policy: Policy): Plan {
  const { envelope, context } = happened;
  const { attempt, created_at } = envelope.status;
  const createdMs = instantMs(created_at) ?? context.now;
  return isExhausted(policy, attempt, createdMs, eventTimeMs(envelope, createdMs), context.now)
    ? planExhausted(happened, policy)
    : planRetry(happened, policy);
}

/** What a failed envelope tells of the policy that failed it. */
function failureDetails({ fault, decidedBy }: FaultCase, maxAttempts?: number) {
  return {
    fault,
    ...defined({ maxAttempts, decidedBy }),
  };
}

function planRetry(happened: FaultCase, policy: Policy): Plan {
  const { envelope, fault, facts, context, decidedBy } = happened;
  const { actor, limits, now, random: roll } = context;
  const { maxAttempts } = policy;
  const failure = failureDetails(happened, maxAttempts);
  const ownDelayMs = delayAfterAttempt(policy, envelope.status.attempt, roll);
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
  return ackAfter([dispatch], [...facts, resultFact('retried')], otherwise);
}

function planExhausted(happened: FaultCase, policy: Policy): Plan {
  const { envelope, facts, context } = happened;
  const { maxAttempts, onExhausted, exhaustedReason } = policy;
  const failure = failureDetails(happened, maxAttempts);
  switch (onExhausted.action) {
    case 'route':
      return planRouted(happened, onExhausted.actors, maxAttempts);
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

/** To the actors that deal with failures, as failed and with the error: their handlers can read both. */
function planRouted(happened: FaultCase, actors: readonly string[], maxAttempts?: number): Plan {
  const { envelope, facts, context } = happened;
  const route = shiftRoute(envelope.route, actors);
  const dispatch = failureDispatch(route.curr, 'routed', { ...envelope, route }, context, {
    reason: 'PolicyRouted',
    ...failureDetails(happened, maxAttempts),
  });
  return ackAfter([dispatch], [...facts, resultFact('policy_routed')]);
}
