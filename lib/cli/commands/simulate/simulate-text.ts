import type {
  DeadlineVerdict,
  SimulatedEnd,
  SimulatedStep,
  Simulation,
} from '../../../app/simulation/simulation.ts';
import { timestampText } from '../../../core/text/timestamp.ts';
import { spanText } from '../../output/times.ts';
import type { Staged } from './simulate-scenario.ts';
import { simulatedTable } from './simulate-table.ts';

/** All that is printed of a simulation. */
export function simulationText(staged: Staged, simulation: Simulation): string {
  const { end, deadline, requests } = simulation;
  return [
    headWords(staged),
    '',
    simulatedTable(simulation.steps),
    '',
    row('end', endWords(end)),
    row('SLA', deadlineWords(deadline, simulation, staged)),
    row('SQS', requestWords(requests)),
    ...noteWords(staged, simulation).map((note) => row('note', note)),
  ].join('\n');
}

function row(name: string, words: string): string {
  return `${name.padEnd(5)} ${words}`;
}

function headWords({ flow, route, timeoutMs, scenario }: Staged): string {
  const what = flow === undefined ? 'actor' : `flow ${flow}:`;
  const limit = timeoutMs === undefined ? '' : `, ${spanText(timeoutMs)} for all of it`;
  return `${what} ${route.join(' → ')}${limit}, from ${timestampText(scenario.startMs)}`;
}

function endWords(end: SimulatedEnd): string {
  switch (end.kind) {
    case 'ended': {
      const error = end.errorType === undefined || end.errorType === end.reason ? '' : ` (${end.errorType})`;
      const last = end.reason === 'Dropped' ? '; x-sink does not forward what was dropped' : '';
      return `${end.phase}, ${end.reason}${error}, at ${end.actor} after ${spanText(end.atMs)}; went to ${end.went.join(', ')}${last}`;
    }
    case 'released':
      return `none after ${spanText(end.atMs)}: it is not acked, comes again, and ends in the dead-letter queue: ${end.problem}`;
    case 'endless':
      return `none in sight: left off after ${end.deliveries} deliveries, ${spanText(end.atMs)}`;
  }
}

function deadlineWords(verdict: DeadlineVerdict, { end, steps }: Simulation, { flow }: Staged): string {
  if (verdict.verdict === 'none')
    return flow === undefined ? 'none: only flows have a timeout' : 'none: the flow has no timeout';
  const limit = spanText(verdict.deadlineMs);
  switch (verdict.verdict) {
    case 'met':
      return `met, with ${spanText(verdict.spareMs)} of ${limit} to spare`;
    case 'not-reached':
      return `not reached: ${spanText(verdict.spareMs)} of ${limit} were left when it ${end.kind === 'ended' ? 'failed' : 'was left off'}`;
    case 'missed': {
      const actor = steps.find(({ decision }) => decision.kind === verdict.how)?.actor;
      return `missed at ${actor}: ${missedWords(verdict.how, limit)}`;
    }
  }
}

function missedWords(how: Extract<DeadlineVerdict, { verdict: 'missed' }>['how'], limit: string): string {
  switch (how) {
    case 'expired':
      return `it arrived with less than 1s of ${limit} left, and was not worked on`;
    case 'cut-off':
      return `the ${limit} were over during the call`;
    case 'retries-too-late':
      return `the retry was not sent, because less than 1s of ${limit} would be left when it arrives`;
  }
}

function requestWords({ sends, receives, deletes }: Simulation['requests']): string {
  const total = sends + receives + deletes;
  return `${total} requests: ${sends} sends (the gateway's first one included), ${receives} receives, ${deletes} deletes; for one envelope, without batching`;
}

function noteWords({ scenario, usualMs, seed }: Staged, { steps }: Simulation): readonly string[] {
  const called = new Set(steps.flatMap(({ actor, call }) => (call === undefined ? [] : [actor])));
  const idle = [...scenario.scripts].filter(
    ([name, { failures }]) => failures.length > 0 && !called.has(name),
  );
  return [
    `each call takes ${spanText(usualMs)} where --take says nothing else; queues and cold starts take no time here`,
    ...(steps.some(hasJitter) ? [jitterWords(seed)] : []),
    ...idle.map(([name]) => `${name} is never called, so --fail says nothing of it here`),
  ];
}

function hasJitter({ decision }: SimulatedStep): boolean {
  return 'hasJitter' in decision && decision.hasJitter;
}

function jitterWords(seed: number | undefined): string {
  return seed === undefined
    ? 'jitter is taken at its half, 5% of the delay; --seed N rolls dice for it'
    : `jitter is rolled from seed ${seed}`;
}
