import type { Actor } from '../../core/delivery/actor.ts';
import type { DeriveId } from '../../core/envelope/decode.ts';
import { encode } from '../../core/envelope/encode.ts';
import type { Envelope } from '../../core/envelope/envelope.ts';
import { deadlineMs } from '../../core/envelope/status.ts';
import type { Clock, Random } from '../../ports/clock.ts';
import type { Telemetry } from '../../ports/telemetry.ts';
import type { DeliveryLine } from '../delivery/handle-delivery.ts';
import { ALWAYS_SUCCEEDS, type RuntimeOnClock, type Script, scriptedRuntime } from './scripted-runtime.ts';
import { observeDelivery } from './simulated-delivery.ts';
import { deadlineVerdict, endAtSink, requestsOf } from './simulated-end.ts';
import { type QueueTraits, type SimulatedQueues, simulatedQueues } from './simulated-queues.ts';
import { stepFrom } from './simulated-step.ts';
import type { EnvelopeEnd, SimulatedStep, Simulation } from './simulation.ts';

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
 * Simulates what would happen to an envelope and the children of its fan-outs, without waiting. Every delivery is
 * processed by the real line; only the clock, the queues and the handlers are simulated. Each delivery has its own clock,
 * which starts when its message is visible, so the calls of parallel envelopes overlap: there is always a free copy of
 * an actor. Deliveries are processed in the order in which they start, and none of them sends anything into the past.
 */
export async function simulate(scenario: Scenario): Promise<Simulation> {
  const { envelope, startMs } = scenario;
  const deadline = deadlineMs(envelope);
  const { steps, end, ends } = await run(scenario);
  return {
    steps,
    end,
    ends,
    deadline: deadlineVerdict(deadline === undefined ? undefined : deadline - startMs, end, steps),
    requests: requestsOf(steps),
  };
}

async function run(scenario: Scenario): Promise<Pick<Simulation, 'steps' | 'end' | 'ends'>> {
  const { actors, envelope, startMs, traits, maxDeliveries = MAX_DELIVERIES } = scenario;
  const queues = simulatedQueues(new Set(actors.keys()), traits);
  const lines = linesOf(scenario, queues);
  const steps: SimulatedStep[] = [];
  /** By id. The last version that was sent to x-sink, or that could not be sent. */
  const ended = new Map<string, Envelope>();
  const first = { to: envelope.route.curr, type: 'next', body: encode(envelope), delayMs: 0 } as const;
  const entry = queues.send(first, startMs);
  if (!entry.ok) return { steps, end: { kind: 'released', atMs: 0, problem: entry.problem }, ends: [] };
  for (let message = queues.receive(); message !== undefined; message = queues.receive()) {
    if (steps.length >= maxDeliveries) {
      const atMs = message.visibleAt - startMs;
      return { steps, end: { kind: 'endless', atMs, deliveries: steps.length }, ends: endsOf(ended, steps) };
    }
    const delivered = await observeDelivery(message, lines(message.queue, clockFrom(message.visibleAt)));
    steps.push(stepFrom(delivered, startMs, traits));
    for (const { type, envelope: sent } of delivered.sent) if (type === 'sink') ended.set(sent.id, sent);
    if (delivered.settle === 'release') ended.set(delivered.envelope.id, delivered.envelope);
  }
  const ends = endsOf(ended, steps);
  const own = ends.find(({ envelope: { id } }) => id === envelope.id);
  return { steps, end: own?.end ?? endAtSink(envelope, steps), ends };
}

function endsOf(
  ended: ReadonlyMap<string, Envelope>,
  steps: readonly SimulatedStep[],
): readonly EnvelopeEnd[] {
  const stepsById = Map.groupBy(steps, ({ envelopeId }) => envelopeId);
  const ends = [...ended.values()].map((envelope): EnvelopeEnd => {
    const own = stepsById.get(envelope.id) ?? [];
    const last = own.at(-1);
    const isReleased = last?.decision.kind === 'released';
    return isReleased
      ? { envelope, end: { kind: 'released', atMs: last.atMs, problem: last.decision.problem } }
      : { envelope, end: endAtSink(envelope, own) };
  });
  return ends.toSorted((one, other) => one.end.atMs - other.end.atMs);
}

/** The clock of one delivery. */
function clockFrom(startsAt: number): Clock {
  let now = startsAt;
  return {
    now: () => now,
    sleep: async (milliseconds) => {
      now += milliseconds;
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
  queues: SimulatedQueues,
): (name: string, clock: Clock) => DeliveryLine {
  const runtimes = new Map(
    [...actors.keys()].map((name) => [name, scriptedRuntime(scripts.get(name) ?? ALWAYS_SUCCEEDS)]),
  );
  return (name, clock) => ({
    actor: actors.get(name) as Actor,
    limits: traits.limits,
    runtime: (runtimes.get(name) as RuntimeOnClock)(clock.sleep),
    send: async (dispatch) => queues.send(dispatch, clock.now()),
    clock,
    random,
    deriveId,
    telemetry: NO_TELEMETRY,
  });
}
