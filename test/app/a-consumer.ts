import { type ConsumeResult, consumeQueue, type MissingQueue } from '../../lib/app/delivery/consume-queue.ts';
import type { Actor } from '../../lib/core/delivery/actor.ts';
import type { CallResult } from '../../lib/core/delivery/outcome.ts';
import { defined } from '../../lib/core/text/defined.ts';
import type { RuntimeRequest } from '../../lib/ports/runtime.ts';
import type { Transport } from '../../lib/ports/transport.ts';
import { anEnvelope } from '../core/a-delivery.ts';
import {
  aLine,
  type FakeRuntime,
  fakeRuntime,
  type RecordedTelemetry,
  recordingTelemetry,
} from './a-line.ts';
import { type MemoryBroker, memoryBroker } from './memory-broker.ts';
import { type Script, type ScriptedTransport, scriptedTransport } from './scripted-transport.ts';
import { type VirtualClock, virtualClock } from './virtual-clock.ts';

/** A consumer of the queue `score`, in virtual time. */
export interface ConsumerFixture {
  readonly clock: VirtualClock;
  readonly broker: MemoryBroker;
  readonly transport: ScriptedTransport;
  readonly runtime: FakeRuntime;
  readonly telemetry: RecordedTelemetry;
  readonly stop: AbortController;
  /** Since the start. */
  elapsedMs(): number;
  /** Sends envelopes with these ids to the queue, all at the same time. */
  put(...ids: readonly string[]): void;
  start(): Promise<ConsumeResult>;
  /** Lets time pass until this number of deliveries is acknowledged. */
  untilAcked(count: number): Promise<void>;
  /** The ids of the envelopes in a queue, hidden or not. */
  idsIn(queue: string): readonly string[];
}

export interface ConsumerOptions {
  readonly end?: (
    id: string,
    clock: VirtualClock,
    request: RuntimeRequest,
  ) => CallResult | Promise<CallResult>;
  readonly restartsItself?: boolean;
  /** Waits until the runtime can be called. */
  readonly untilReady?: (stop: AbortSignal, clock: VirtualClock) => Promise<void>;
  readonly concurrency?: number;
  readonly script?: Script;
  readonly missingQueue?: Partial<MissingQueue>;
  readonly actor?: Partial<Actor>;
  readonly visibilityMs?: number;
  /** Wraps the consumer's transport, for behavior that a script cannot express. */
  readonly wrap?: (transport: ScriptedTransport, clock: VirtualClock) => Transport;
  readonly queues?: readonly string[];
}

export const VALUE: CallResult = { kind: 'frames', frames: [{ payload: '{"m":2}' as never }] };
export const QUEUES = ['score', 'store', 'x-sink'];

export function aConsumer(options: ConsumerOptions = {}): ConsumerFixture {
  const { end = () => VALUE, restartsItself = true, concurrency = 1, visibilityMs = 600_000 } = options;
  const { untilReady } = options;
  const clock = virtualClock();
  const startedAt = clock.now();
  const broker = memoryBroker({ clock });
  for (const queue of options.queues ?? QUEUES) broker.createQueue(queue);
  const transport = scriptedTransport(broker.transport({ visibilityMs }), clock, options.script);
  const runtime = fakeRuntime((request) => end(request.envelope.id, clock, request), restartsItself);
  const telemetry = recordingTelemetry();
  const used = options.wrap?.(transport, clock) ?? transport;
  const line = aLine({
    runtime: untilReady === undefined ? runtime : { ...runtime, untilReady: (end) => untilReady(end, clock) },
    clock,
    transport: used,
    telemetry,
    ...defined({ actor: options.actor }),
  });
  const stop = new AbortController();
  const missingQueue = { autoCreate: false, maxAttempts: 10, backoffMs: 1_000, ...options.missingQueue };
  // A separate transport, so that the operations of the test are not recorded as operations of the consumer.
  const outside = broker.transport();
  return {
    clock,
    broker,
    transport,
    runtime,
    telemetry,
    stop,
    elapsedMs: () => clock.now() - startedAt,
    put: (...ids) => {
      for (const id of ids) outside.send('score', JSON.stringify(anEnvelope({ id })));
    },
    start: () =>
      consumeQueue({ queue: 'score', transport: used, line, concurrency, missingQueue }, stop.signal),
    untilAcked: (count) =>
      clock.passUntil(() => transport.operationsOf('ack').filter(({ ok }) => ok).length >= count),
    idsIn: (queue) => broker.bodiesIn(queue).map((body) => (JSON.parse(body) as { id: string }).id),
  };
}

/** A call that takes this long and then returns a value. */
export async function valueAfter(clock: VirtualClock, milliseconds: number): Promise<CallResult> {
  await clock.sleep(milliseconds);
  return VALUE;
}

/** The id of the envelope that an operation is about. */
export function idOf({ body }: { readonly body?: string }): string {
  return body === undefined ? '' : (JSON.parse(body) as { id: string }).id;
}
