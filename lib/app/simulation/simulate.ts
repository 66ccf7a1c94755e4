import type { Actor } from '../../core/delivery/actor.ts';
import type { DeriveId } from '../../core/envelope/decode.ts';
import { encode } from '../../core/envelope/encode.ts';
import type { Envelope } from '../../core/envelope/envelope.ts';
import { deadlineMs } from '../../core/envelope/status.ts';
import type { Clock, Random } from '../../ports/clock.ts';
import type { Telemetry } from '../../ports/telemetry.ts';
import type { Line } from '../delivery/handle-delivery.ts';
import { ALL_WELL, type Script, scriptedRuntime } from './scripted-runtime.ts';
import { deliver } from './simulated-delivery.ts';
import { deadlineVerdict, endAtSink, requestsOf } from './simulated-end.ts';
import { type QueueTraits, type SimulatedQueues, simulatedQueues } from './simulated-queues.ts';
import { stepFrom } from './simulated-step.ts';
import type { SimulatedStep, Simulation } from './simulation.ts';

/** A mesh, an envelope that enters it, and how the handlers behave. */
export interface Scenario {
  /** Every actor by its name, x-sink and x-sump included. */
  readonly actors: ReadonlyMap<string, Actor>;
  /** As it enters, at the queue of its route's `curr`. */
  readonly envelope: Envelope;
  /** By actor; who has none succeeds at once. */
  readonly scripts: ReadonlyMap<string, Script>;
  /** Milliseconds since 1970. */
  readonly startMs: number;
  readonly traits: QueueTraits;
  readonly dice: Random;
  readonly deriveId: DeriveId;
  /** After so many, what has no end in sight is left off. */
  readonly mostDeliveries?: number;
}

const MAX_DELIVERIES = 20_000;

/**
 * What would become of an envelope, told at once: every delivery goes down the line that the mesh has, and only the
 * clock, the queues and the handlers are played. One envelope is under way at a time, so that time can jump from one
 * delivery to the next.
 */
export async function simulate(scenario: Scenario): Promise<Simulation> {
  const { envelope, startMs } = scenario;
  const deadline = deadlineMs(envelope);
  const { steps, end } = await run(scenario);
  return {
    steps,
    end,
    deadline: deadlineVerdict(deadline === undefined ? undefined : deadline - startMs, end, steps),
    requests: requestsOf(steps),
  };
}

type Run = Pick<Simulation, 'steps' | 'end'>;

async function run(scenario: Scenario): Promise<Run> {
  const { actors, envelope, startMs, traits, mostDeliveries = MAX_DELIVERIES } = scenario;
  const clock = jumpingClock(startMs);
  const queues = simulatedQueues(new Set(actors.keys()), traits, clock.now);
  const lines = linesOf(scenario, clock, queues);
  const steps: SimulatedStep[] = [];
  let ended: Envelope = envelope;
  const entry = queues.send({ to: envelope.route.curr, type: 'next', body: encode(envelope), delayMs: 0 });
  if (!entry.ok) return { steps, end: { kind: 'released', atMs: 0, problem: entry.problem } };
  for (let message = queues.receive(); message !== undefined; message = queues.receive()) {
    clock.jumpTo(message.visibleAt);
    const atMs = clock.now() - startMs;
    if (steps.length >= mostDeliveries)
      return { steps, end: { kind: 'endless', atMs, deliveries: steps.length } };
    const delivered = await deliver(message, lines(message.queue));
    const step = stepFrom(delivered, startMs, traits);
    steps.push(step);
    if (step.decision.kind === 'released')
      return { steps, end: { kind: 'released', atMs, problem: step.decision.problem } };
    ended = delivered.sent.find(({ type }) => type === 'sink')?.envelope ?? ended;
  }
  return { steps, end: endAtSink(ended, steps) };
}

interface JumpingClock extends Clock {
  jumpTo(instant: number): void;
}

function jumpingClock(startMs: number): JumpingClock {
  let now = startMs;
  return {
    now: () => now,
    sleep: async (milliseconds) => {
      now += milliseconds;
    },
    jumpTo: (instant) => {
      now = Math.max(now, instant);
    },
  };
}

const UNHEARD: Telemetry = {
  received: () => {},
  began: () => {},
  ended: () => {},
  warn: () => {},
  step: () => {},
};

function linesOf(
  { actors, scripts, traits, dice, deriveId }: Scenario,
  clock: Clock,
  queues: SimulatedQueues,
): (name: string) => Line {
  const lineOf = (actor: Actor): Line => ({
    actor,
    limits: traits.limits,
    runtime: scriptedRuntime(scripts.get(actor.name) ?? ALL_WELL, clock.sleep),
    send: async (dispatch) => queues.send(dispatch),
    clock,
    dice,
    deriveId,
    telemetry: UNHEARD,
  });
  const lines = new Map([...actors].map(([name, actor]) => [name, lineOf(actor)]));
  return (name) => lines.get(name) as Line;
}
