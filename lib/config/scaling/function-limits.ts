import { GATEWAY_MS } from './bookkeeping.ts';
import { type Limit, limitOf } from './limit.ts';
import { type FunctionDemand, invocationMs } from './mesh-demand.ts';
import {
  ACCOUNT_CONCURRENCY,
  EVENT_SOURCE,
  IN_FLIGHT_MESSAGES,
  INVOCATIONS_PER_EXECUTION,
} from './quotas.ts';
import { reportsOf } from './usage.ts';
import type { Workload } from './workload.ts';

/** The limits of each function that receives envelopes. */
export function functionLimits(demands: readonly FunctionDemand[], workload: Workload): readonly Limit[] {
  return demands
    .filter(({ deliveries }) => deliveries > 0)
    .flatMap((demand) => [copies(demand, workload), inFlight(demand, workload)]);
}

function copies({ plan, copies: perEnvelope }: FunctionDemand, workload: Workload): Limit {
  const { actor, folder, maxReplicas } = plan;
  const isActor = folder === 'sidecar';
  const setting = isActor ? 'scaling.maxReplicas' : 'crewConcurrency';
  const beyond = isActor
    ? ', the most of an event source, and raise scaling.batchSize and scaling.concurrency or shorten the call'
    : ', the most of an event source, and split the mesh';
  return limitOf(workload, perEnvelope, {
    resource: `copies of ${actor}`,
    actor,
    unit: 'copies',
    limit: maxReplicas,
    raisableTo: EVENT_SOURCE.max,
    advice: (toSet) => `set ${setting} to ${toSet}${toSet === EVENT_SOURCE.max ? beyond : ''}`,
  });
}

/** A message is in flight from its receive to its delete, so also while its batch fills. */
function inFlight({ plan, deliveries }: FunctionDemand, workload: Workload): Limit {
  const heldSeconds = plan.batchWindowSeconds + invocationMs(plan, plan.batchSize, workload) / 1000;
  return limitOf(workload, deliveries * heldSeconds, {
    resource: `messages in flight to ${plan.actor}`,
    actor: plan.actor,
    unit: 'messages',
    limit: IN_FLIGHT_MESSAGES,
    advice: () =>
      'shorten scaling.batchWindow and the call, or split the mesh; SQS does not raise this limit',
  });
}

/** What all functions of an account share. */
export function accountLimit(demands: readonly FunctionDemand[], workload: Workload): Limit {
  const { trackedShare } = workload;
  const actorCalls = sum(demands.map(({ plan, deliveries }) => deliveries / plan.batchSize));
  // The gateway accepts each task, and receives one request with the reports of an invocation.
  const reporting = demands.filter(({ plan }) => reportsOf(plan, workload));
  const reports = sum(reporting.map(({ plan, deliveries }) => deliveries / plan.batchSize));
  const gatewayCalls = trackedShare * (1 + reports);
  const busy = sum(demands.map((one) => one.copies)) + gatewayCalls * (GATEWAY_MS / 1000);
  // A short invocation counts like one of 100 ms.
  const executions = Math.max(busy, (actorCalls + gatewayCalls) / INVOCATIONS_PER_EXECUTION);
  return limitOf(workload, executions, {
    resource: 'concurrent executions of the account',
    unit: 'executions',
    limit: ACCOUNT_CONCURRENCY,
    raisableTo: Number.POSITIVE_INFINITY,
    advice: (toSet) => `request ${toSet} for the quota "Concurrent executions" of Lambda`,
  });
}

export function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, one) => total + one, 0);
}
