import type {
  DeadlineVerdict,
  SimulatedEnd,
  SimulatedStep,
  Simulation,
} from '../../../app/simulation/simulation.ts';
import { timestampText } from '../../../core/text/timestamp.ts';
import { timelineTable } from '../../output/timeline-table.ts';
import { spanText } from '../../output/times.ts';
import type { SimulationPlan } from './simulate-scenario.ts';

/** The output of `asya simulate` without `--json`. */
export function simulationText(
  plan: SimulationPlan,
  simulation: Simulation,
  notes: readonly string[] = [],
): string {
  const { end, deadline, requests } = simulation;
  return [
    headText(plan),
    '',
    timelineTable(simulation.steps),
    '',
    row('end', endText(end)),
    row('SLA', deadlineText(deadline, simulation, plan)),
    row('SQS', requestsText(requests)),
    ...[...noteTexts(plan, simulation), ...notes].map((note) => row('note', note)),
  ].join('\n');
}

function row(name: string, text: string): string {
  return `${name.padEnd(5)} ${text}`;
}

function headText({ flow, route, timeoutMs, scenario }: SimulationPlan): string {
  const what = flow === undefined ? 'actor' : `flow ${flow}:`;
  const limit = timeoutMs === undefined ? '' : `, timeout ${spanText(timeoutMs)}`;
  return `${what} ${route.join(' → ')}${limit}, starting at ${timestampText(scenario.startMs)}`;
}

function endText(end: SimulatedEnd): string {
  switch (end.kind) {
    case 'ended': {
      const error = end.errorType === undefined || end.errorType === end.reason ? '' : ` (${end.errorType})`;
      const dropped = end.reason === 'Dropped' ? '; x-sink does not forward dropped envelopes' : '';
      return `${end.phase}, ${end.reason}${error}, at ${end.actor} after ${spanText(end.atMs)}; sent to ${end.went.join(', ')}${dropped}`;
    }
    case 'released':
      return `none: not acknowledged at ${spanText(end.atMs)}, so the broker redelivers it and then moves it to the dead-letter queue: ${end.problem}`;
    case 'endless':
      return `none: the simulation stopped after ${end.deliveries} deliveries, at ${spanText(end.atMs)}`;
  }
}

function deadlineText(
  verdict: DeadlineVerdict,
  { end, steps }: Simulation,
  { flow }: SimulationPlan,
): string {
  if (verdict.verdict === 'none')
    return flow === undefined ? 'none: only flows have a timeout' : 'none: the flow has no timeout';
  const limit = spanText(verdict.deadlineMs);
  switch (verdict.verdict) {
    case 'met':
      return `met, with ${spanText(verdict.spareMs)} of ${limit} to spare`;
    case 'not-reached':
      return `not reached: ${spanText(verdict.spareMs)} of ${limit} were left when it ${end.kind === 'ended' ? 'failed' : 'stopped'}`;
    case 'missed': {
      const actor = steps.find(({ decision }) => decision.kind === verdict.how)?.actor;
      return `missed at ${actor}: ${missedText(verdict.how, limit)}`;
    }
  }
}

function missedText(how: Extract<DeadlineVerdict, { verdict: 'missed' }>['how'], limit: string): string {
  switch (how) {
    case 'expired':
      return `it arrived with less than 1 s of ${limit} left and was not processed`;
    case 'cut-off':
      return `the ${limit} ran out during the call`;
    case 'retries-too-late':
      return `the retry was not sent, because it would arrive with less than 1 s of ${limit} left`;
  }
}

function requestsText({ sends, receives, deletes }: Simulation['requests']): string {
  const total = sends + receives + deletes;
  return `${total} requests: ${sends} sends (including the gateway's), ${receives} receives, ${deletes} deletes; for one envelope, without batching`;
}

function noteTexts({ scenario, callMs, seed }: SimulationPlan, { steps }: Simulation): readonly string[] {
  const called = new Set(steps.flatMap(({ actor, call }) => (call === undefined ? [] : [actor])));
  const uncalled = [...scenario.scripts].filter(
    ([name, { failures }]) => failures.length > 0 && !called.has(name),
  );
  return [
    `each call takes ${spanText(callMs)} unless --take sets another duration; queue time and cold starts are not simulated`,
    ...(steps.some(hasJitter) ? [jitterText(seed)] : []),
    ...uncalled.map(([name]) => `${name} is never called, so its --fail has no effect`),
  ];
}

function hasJitter({ decision }: SimulatedStep): boolean {
  return 'hasJitter' in decision && decision.hasJitter;
}

function jitterText(seed: number | undefined): string {
  return seed === undefined
    ? 'jitter is simulated as 5% of the delay, half of its maximum; --seed N draws it at random'
    : `jitter is drawn at random from seed ${seed}`;
}
