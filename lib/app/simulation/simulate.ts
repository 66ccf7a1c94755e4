import type { Actor } from '../../core/delivery/actor.ts';
import type { DeriveId } from '../../core/envelope/decode.ts';
import { encode } from '../../core/envelope/encode.ts';
import type { Envelope } from '../../core/envelope/envelope.ts';
import { deadlineMs } from '../../core/envelope/status.ts';
import type { Clock, Random } from '../../ports/clock.ts';
import type { Telemetry } from '../../ports/telemetry.ts';
import type { DeliveryLine } from '../delivery/handle-delivery.ts';
import { ALWAYS_SUCCEEDS, type Script, scriptedRuntime } from './scripted-runtime.ts';
import { observeDelivery } from './simulated-delivery.ts';
import { deadlineVerdict, endAtSink, requestsOf } from './simulated-end.ts';
import { type QueueTraits, type SimulatedQueues, simulatedQueues } from './simulated-queues.ts';
import { stepFrom } from './simulated-step.ts';
import type { SimulatedStep, Simulation } from './simulation.ts';

/** A mesh, an envelope that enters it, and how the handlers behave. */
export interface Scenario {
  /** Every actor by its name, x-sink and x-sump included. */
  readonly actors: ReadonlyMap<string, Actor>;
  /** It is first sent to the queue of its route's `curr`. */
  readonly envelope: Envelope;
  /** By actor. An actor without a script always succeeds, in no time. */
  readonly scripts: ReadonlyMap<string, Script>;
  /** Milliseconds since 1970. */
  readonly startMs: number;
  readonly traits: QueueTraits;
  readonly random: Random;
  readonly deriveId: DeriveId;
  /** The simulation ends as `endless` after this many deliveries. Default: 20,000. */
  readonly maxDeliveries?: number;
}

const MAX_DELIVERIES = 20_000;

/**
 * Simulates what would happen to an envelope, without waiting. Every delivery is processed by the real line; only the
 * clock, the queues and the handlers are simulated. There is one envelope at a time, so the clock can jump from one
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
  const { actors, envelope, startMs, traits, maxDeliveries = MAX_DELIVERIES } = scenario;
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
    if (steps.length >= maxDeliveries)
      return { steps, end: { kind: 'endless', atMs, deliveries: steps.length } };
    const delivered = await observeDelivery(message, lines(message.queue));
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

const NO_TELEMETRY: Telemetry = {
  received: () => {},
  began: () => {},
  ended: () => {},
  warn: () => {},
  step: () => {},
};

function linesOf(
  { actors, scripts, traits, random, deriveId }: Scenario,
  clock: Clock,
  queues: SimulatedQueues,
): (name: string) => DeliveryLine {
  const lineOf = (actor: Actor): DeliveryLine => ({
    actor,
    limits: traits.limits,
    runtime: scriptedRuntime(scripts.get(actor.name) ?? ALWAYS_SUCCEEDS, clock.sleep),
    send: async (dispatch) => queues.send(dispatch),
    clock,
    random,
    deriveId,
    telemetry: NO_TELEMETRY,
  });
  const lines = new Map([...actors].map(([name, actor]) => [name, lineOf(actor)]));
  return (name) => lines.get(name) as DeliveryLine;
}
