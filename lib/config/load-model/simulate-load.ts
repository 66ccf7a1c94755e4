import { GATEWAY_MS } from '../scaling/bookkeeping.ts';
import type { Usage } from '../scaling/prices.ts';
import { addUsage, usageAtRest, usageOfEntry, usageOfInvocation } from '../scaling/usage.ts';
import { type FunctionState, functionState, type Work } from './function-state.ts';
import { type Load, type LoadResult, STORES } from './load.ts';
import {
  afterFailure,
  afterSuccess,
  atCrew,
  failedShareOfVisit,
  isDeadLettered,
  type NextActors,
  nextActors,
  type Outcome,
} from './outcomes.ts';
import { sampleRecorder } from './samples.ts';
import type { Cohort } from './waiting-line.ts';

/**
 * What happens to a mesh under a load, in virtual time. Envelopes are a fluid: each step moves amounts of them, so a day
 * at any rate takes seconds. The same load always has the same result. Cold starts are not modelled.
 */
export function simulateLoad(load: Load): LoadResult {
  const { mesh, workload, durationMs, stepMs, sampleMs, host } = load;
  const states = mesh.functions.map((plan) => functionState(plan, load));
  const byName = new Map(states.map((state) => [state.plan.actor, state]));
  const next = nextActors(mesh.routes);
  const failedShare = failedShareOfVisit(workload, mesh.routes);
  const recorder = sampleRecorder(sampleMs);
  const ended = { succeeded: 0, failed: 0 };
  let usage = usageAtRest(mesh.functions, durationMs);

  const isDown = (name: string, now: number) =>
    load.outages.some(({ of, fromMs, untilMs }) => of === name && now >= fromMs && now < untilMs);

  const outcomesOf = ({ plan }: FunctionState, cohort: Cohort, now: number): readonly Outcome[] => {
    if (isDeadLettered(plan, cohort)) return [DEAD_LETTER];
    if (plan.folder !== 'sidecar') return [atCrew(plan, cohort, !isDown(STORES, now))];
    if (isDown(plan.actor, now)) return [afterFailure(plan, cohort, now)];
    return afterSuccess(next.get(plan.actor) ?? NO_ACTORS, failedShare);
  };

  const apply = (state: FunctionState, cohort: Cohort, outcome: Outcome, now: number): void => {
    const then = now + stepMs;
    switch (outcome.kind) {
      case 'ended':
        ended[cohort.isFailed ? 'failed' : 'succeeded'] += cohort.amount;
        return;
      case 'again': {
        const { afterMs, isHidden } = outcome;
        const atMs = Math.max(then, now + afterMs);
        const sentMs = isHidden ? cohort.sentMs : atMs;
        state.arriveLater({ ...cohort, attempt: cohort.attempt + 1, sentMs }, atMs, isHidden);
        return;
      }
      case 'sent': {
        const { to, share, isFailed } = outcome;
        const target = byName.get(to) ?? byName.get('x-sink');
        const amount = cohort.amount * share;
        if (amount > 0) target?.arriveNext({ amount, attempt: 1, sentMs: then, bornMs: then, isFailed });
      }
    }
  };

  for (let now = 0; now < durationMs; now += stepMs) {
    const entered = load.arrivals(now) * (stepMs / 1000);
    recorder.enter(now, entered);
    usage = addUsage(usage, usageOfEntry(entered, workload));
    for (const [first = ''] of mesh.routes)
      byName.get(first)?.arrive({
        amount: entered / mesh.routes.length,
        attempt: 1,
        sentMs: now,
        bornMs: now,
        isFailed: false,
      });
    const turns = states.map((state) => state.prepare(now));
    const gateway = (load.arrivals(now) * workload.trackedShare * GATEWAY_MS) / 1000;
    const wanted = turns.reduce((sum, { executions }) => sum + executions, gateway);
    const share = Math.min(1, host.executions / wanted);
    for (const [at, state] of states.entries()) {
      const turn = turns[at];
      if (turn === undefined) continue;
      const oldestMs = ageOf(state, now);
      const work = state.process(turn, share);
      const { plan } = state;
      const batch = { records: turn.pace.records, durationMs: turn.pace.invocationMs };
      const ofBatch = usageOfInvocation(plan, batch, { ...workload, failedShare: failedShareOf(work) });
      usage = addUsage(usage, times(ofBatch, work.invocations));
      for (const cohort of work.cohorts)
        for (const outcome of outcomesOf(state, cohort, now)) apply(state, cohort, outcome, now);
      recorder.note(plan.actor, sampleOf(state, work, now, oldestMs));
    }
  }
  return { samples: recorder.samples(), total: recorder.total(), ...ended, usage };
}

const NO_ACTORS: NextActors = new Map();
const DEAD_LETTER: Outcome = { kind: 'sent', to: 'x-dlq', share: 1, isFailed: true };

function failedShareOf({ cohorts, records }: Work): number {
  const failed = cohorts.reduce((sum, { amount, isFailed }) => sum + (isFailed ? amount : 0), 0);
  return records === 0 ? 0 : Math.min(1, failed / records);
}

function ageOf(state: FunctionState, now: number): number {
  const oldest = state.oldestMs();
  return oldest === undefined ? 0 : now - oldest;
}

function sampleOf(state: FunctionState, work: Work, now: number, oldestMs: number) {
  return {
    backlog: state.backlog(),
    backlogAtMs: now,
    oldestMs,
    copies: work.copies,
    invocations: work.invocations,
    deliveries: work.records,
  };
}

function times(usage: Usage, factor: number): Usage {
  return Object.fromEntries(Object.entries(usage).map(([unit, amount]) => [unit, amount * factor]));
}
