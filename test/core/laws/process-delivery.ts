import { type Admission, admit } from '../../../lib/core/delivery/admit.ts';
import type { Context } from '../../../lib/core/delivery/context.ts';
import { decide } from '../../../lib/core/delivery/decide.ts';
import type { Outcome } from '../../../lib/core/delivery/outcome.ts';
import { type Dispatch, type Plan, planAfterRefusal } from '../../../lib/core/delivery/plan.ts';
import { type Arrival, type DeriveId, decode, type Origin } from '../../../lib/core/envelope/decode.ts';
import { BUILT_IN_POLICIES, CONNECTION_POLICY, type Policy } from '../../../lib/core/policy/policy.ts';
import { readJson } from '../../../lib/core/text/json-text.ts';
import type { Delivery } from './delivery.ts';

/** Readable, and different for different parts. */
export const deriveId: DeriveId = (...parts) => `derived ${JSON.stringify(parts)}`;

export function originAt(actor: string): Origin {
  return { actor, messageId: 'm-1', deriveId };
}

export interface ProcessedDelivery {
  readonly arrival: Arrival;
  readonly admission: Admission;
  readonly outcome: Outcome;
  readonly context: Context;
  readonly plan: Plan;
}

/** Processes a delivery without I/O. The runtime's result is part of the generated delivery. */
export function processUncached(delivery: Delivery): ProcessedDelivery {
  const { actor, limits, now, elapsedMs, random } = delivery;
  const arrival = decode(delivery.body, originAt(actor.name));
  const admission = admit(arrival, actor, now, delivery.hostTimeLeftMs);
  const isCalled = admission.kind === 'call' || admission.kind === 'end-call';
  const outcome: Outcome = isCalled ? { kind: 'called', call: admission, end: delivery.end } : admission;
  const context = { actor, limits, now: isCalled ? now + elapsedMs : now, random, deriveId };
  return { arrival, admission, outcome, context, plan: decide(outcome, context) };
}

const processed = new WeakMap<Delivery, ProcessedDelivery>();

/** The same, cached: a law and its classification use the same plan. */
export function processDelivery(delivery: Delivery): ProcessedDelivery {
  const before = processed.get(delivery);
  if (before !== undefined) return before;
  const now = processUncached(delivery);
  processed.set(delivery, now);
  return now;
}

/** The plan, and all plans that follow if sends are refused. */
export function plansOf(plan: Plan): readonly Plan[] {
  return plan.settle === 'release' ? [plan] : [plan, ...plansOf(planAfterRefusal(plan))];
}

export function dispatchesOf(plan: Plan): readonly Dispatch[] {
  return plansOf(plan).flatMap(({ dispatches }) => dispatches);
}

export function resultsOf(plan: Plan): readonly string[] {
  return plan.facts.flatMap((fact) => (fact.fact === 'result' ? [fact.result] : []));
}

export function failuresOf(plan: Plan): readonly string[] {
  return plan.facts.flatMap((fact) => (fact.fact === 'failed' ? [fact.reason] : []));
}

export function isSuccess(plan: Plan): boolean {
  return resultsOf(plan).includes('success');
}

export function isRetried({ plan }: ProcessedDelivery): boolean {
  return resultsOf(plan).includes('retried');
}

/** The policy that decided, according to the plan's facts. */
export function policyOf({ plan, context }: ProcessedDelivery): Policy | undefined {
  const decidedBy = plan.facts.find((fact) => fact.fact === 'policy');
  if (decidedBy === undefined) return undefined;
  const { policies } = context.actor.resiliency;
  return policies.get(decidedBy.policy) ?? BUILT_IN_POLICIES.get(decidedBy.policy) ?? CONNECTION_POLICY;
}

/** The class of a delivery: its rejection or the end of its call, and the result. */
export function kindOf(delivery: Delivery): string {
  const { outcome, plan } = processDelivery(delivery);
  const end =
    outcome.kind === 'called'
      ? `${outcome.call.kind === 'end-call' ? 'end ' : ''}${outcome.end.kind}`
      : outcome.kind;
  const result = [...resultsOf(plan).filter((one) => one !== 'error'), ...failuresOf(plan)].join('+');
  return `${end} -> ${result || plan.settle}`;
}

/** A body as its receiver parses it. */
export function parsed(body: string): Sent {
  return JSON.parse(body) as Sent;
}

export interface Sent {
  readonly id: string;
  readonly parent_id?: string;
  readonly route: { readonly prev: string[]; readonly curr: string; readonly next: string[] };
  readonly headers: Readonly<Record<string, unknown>>;
  readonly payload: unknown;
  readonly status?: {
    readonly phase?: unknown;
    readonly reason?: unknown;
    readonly actor?: unknown;
    readonly attempt?: number;
    readonly created_at?: string;
    readonly deadline_at?: string;
    readonly error?: { readonly message: string; readonly mro: string[]; readonly traceback: string };
  };
  readonly [unknownKey: string]: unknown;
}

/** All ends of a delivery. A law about plans has to meet each of them. */
export const EVERY_END = [
  'frames -> success',
  'frames -> validation_error',
  'frames -> runtime_error',
  'empty -> empty_response',
  'fault -> retried',
  'fault -> policy_routed',
  'fault -> escalated',
  'fault -> dropped',
  'fault -> policy_exhausted',
  'fault -> runtime_error',
  'fault -> retry_send_failed',
  'fault -> sla_expired+sla_timeout',
  'unreachable -> retried',
  'timeout -> timeout',
  'timeout -> retried',
  'timeout -> sla_expired+sla_timeout',
  'interrupted -> returned',
  'end frames -> end_consumed',
  'end fault -> release',
  'end timeout -> release',
  'end interrupted -> returned',
  'unreadable -> parse_error',
  'unreadable -> validation_error',
  'canceled -> canceled',
  'route-mismatch -> route_mismatch',
  'not-due -> deferred',
  'not-due -> retry_send_failed',
  'hop-budget-exceeded -> runtime_error',
  'expired -> sla_expired+sla_timeout',
  'host-out-of-time -> returned',
];

/** The members of an object as text; empty if the text is not an object. */
export function membersOf(text: string | undefined): ReadonlyMap<string, string> {
  const json = readJson(text ?? '');
  return json.kind === 'object' ? json.members : new Map();
}
