import { releasePauseMs } from '../../core/delivery/release-pause.ts';
import { DEFAULT_POLICY, ONE_ATTEMPT } from '../../core/policy/policy.ts';
import { delayAfterAttempt } from '../../core/policy/policy-delay.ts';
import type { FunctionPlan } from '../plan/function-plan.ts';
import type { Workload } from '../scaling/workload.ts';
import type { Cohort } from './waiting-line.ts';

/** Where a part of a delivered cohort goes. */
export type Outcome =
  /** To the queue of another function, after the delay. */
  | { readonly kind: 'sent'; readonly to: string; readonly share: number; readonly isFailed: boolean }
  /** Back to the own queue. `isHidden`: the message is in flight until then, and keeps its age. */
  | { readonly kind: 'again'; readonly afterMs: number; readonly isHidden: boolean }
  | { readonly kind: 'ended' };

/** From an actor: where its successes go next. Parts that are missing to 1 go to x-sink. */
export type NextActors = ReadonlyMap<string, number>;

/** What happens to a cohort at an actor while its calls succeed, apart from the share that fails finally. */
export function afterSuccess(next: NextActors, failedShare: number): readonly Outcome[] {
  const onwards = [...next].map(
    ([to, share]): Outcome => ({ kind: 'sent', to, share: share * (1 - failedShare), isFailed: false }),
  );
  const ending = 1 - [...next.values()].reduce((sum, share) => sum + share, 0);
  return [
    ...onwards,
    { kind: 'sent', to: 'x-sink', share: ending * (1 - failedShare), isFailed: false },
    { kind: 'sent', to: 'x-sink', share: failedShare, isFailed: true },
  ];
}

const MEAN_JITTER = 0.5;

/** What happens while all calls of the actor fail with an error that no rule matches. */
export function afterFailure({ config }: FunctionPlan, { attempt, bornMs }: Cohort, now: number): Outcome {
  const policies = 'queues' in config ? config.actor.resiliency.policies : undefined;
  const policy = policies?.get(DEFAULT_POLICY) ?? ONE_ATTEMPT;
  const isTooLate = policy.maxDurationMs !== undefined && now - bornMs > policy.maxDurationMs;
  if (attempt < policy.maxAttempts && !isTooLate)
    return { kind: 'again', afterMs: delayAfterAttempt(policy, attempt, MEAN_JITTER), isHidden: false };
  const { onExhausted } = policy;
  const to = onExhausted.action === 'route' ? onExhausted.actors[0] : undefined;
  return { kind: 'sent', to: to ?? 'x-sink', share: 1, isFailed: to === undefined };
}

/** What happens at a function of the crew. */
export function atCrew(plan: FunctionPlan, cohort: Cohort, hasStores: boolean): Outcome {
  if (hasStores)
    return plan.folder === 'x-sink' && cohort.isFailed
      ? { kind: 'sent', to: 'x-sump', share: 1, isFailed: true }
      : { kind: 'ended' };
  return { kind: 'again', afterMs: releasePauseMs(cohort.attempt), isHidden: true };
}

/** Whether SQS moves the messages to the dead-letter queue instead of delivering them once more. */
export function isDeadLettered({ folder, queue }: FunctionPlan, { attempt }: Cohort): boolean {
  // Retries of an actor are new messages.
  return folder !== 'sidecar' && queue !== undefined && attempt > queue.plan.maxReceiveCount;
}

/** From each actor to the next ones, as shares of its deliveries. */
export function nextActors(routes: readonly (readonly string[])[]): ReadonlyMap<string, NextActors> {
  const visits = new Map<string, number>();
  const moves = new Map<string, Map<string, number>>();
  for (const route of routes)
    for (const [at, actor] of route.entries()) {
      visits.set(actor, (visits.get(actor) ?? 0) + 1);
      const to = route[at + 1];
      const own = moves.get(actor) ?? new Map<string, number>();
      if (to !== undefined) own.set(to, (own.get(to) ?? 0) + 1);
      moves.set(actor, own);
    }
  return new Map(
    [...moves].map(([actor, own]) => [
      actor,
      new Map([...own].map(([to, count]) => [to, count / (visits.get(actor) ?? 1)])),
    ]),
  );
}

/** The share of an actor's deliveries that fails finally, if `failedShare` of the envelopes do. */
export function failedShareOfVisit(
  { failedShare }: Workload,
  routes: readonly (readonly string[])[],
): number {
  const visits = routes.flat().length / routes.length;
  return visits === 0 ? 0 : 1 - (1 - failedShare) ** (1 / visits);
}
