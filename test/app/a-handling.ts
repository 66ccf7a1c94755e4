import { handleDelivery } from '../../lib/app/delivery/handle-delivery.ts';
import type { Actor, Limits } from '../../lib/core/delivery/actor.ts';
import { answerFromHttp, answerFromSocket } from '../../lib/core/delivery/answer.ts';
import type { CallResult } from '../../lib/core/delivery/outcome.ts';
import type { Dispatch, Fact } from '../../lib/core/delivery/plan.ts';
import type { Clock } from '../../lib/ports/clock.ts';
import { ACCEPTED, type Reply } from '../../lib/ports/reply.ts';
import type { StartResult } from '../../lib/ports/runtime.ts';
import type { DeliveryReport } from '../../lib/ports/telemetry.ts';
import { actorOf, anEnvelope, deriveId, NOW, type SentEnvelope } from '../core/a-delivery.ts';
import { fakeRuntime, type RecordedTelemetry, recordingTelemetry } from './a-line.ts';

/** Runs one delivery: the answer of the runtime is the input, what is sent and settled is the output. */

export interface Handling {
  readonly body?: string | Uint8Array | Readonly<Record<string, unknown>>;
  /** How the call ends. A function is not called if the runtime is not called. */
  readonly end?: CallResult | Promise<CallResult> | ((fanOut: Actor['fanOut']) => CallResult);
  readonly actor?: Partial<Actor>;
  readonly policies?: unknown;
  readonly rules?: unknown;
  readonly limits?: Partial<Limits>;
  readonly timeLeftMs?: number;
  readonly send?: (dispatch: Dispatch) => Promise<Reply>;
  readonly onCallEnded?: () => void;
  readonly clock?: Clock;
  readonly queue?: string;
  readonly receiveCount?: number;
  /** How long the runtime takes to start, on this clock. */
  readonly startsForMs?: number;
  readonly startEndsAs?: StartResult;
}

interface Sent {
  readonly to: string;
  readonly type: string;
  readonly delayMs: number;
  readonly envelope: SentEnvelope;
}

export interface HandlingEnd {
  readonly settle: 'ack' | 'release';
  /** What `onCallEnded` reports as soon as the call has ended. */
  readonly hasHung: boolean;
  readonly sends: readonly Sent[];
  readonly calls: readonly { readonly payload: string; readonly timeoutMs: number }[];
  readonly report: DeliveryReport;
  readonly telemetry: RecordedTelemetry;
  /** The results, failure reasons and error types of its facts, in order. */
  readonly facts: readonly string[];
}

const LIMITS: Limits = { maxDelayMs: 900_000, maxBodyBytes: 1024 * 1024 };

/** An answer of a runtime over the socket. */
export function socketAnswer(text: string): (fanOut: Actor['fanOut']) => CallResult {
  return (fanOut) => answerFromSocket(text, fanOut);
}

/** An answer of a runtime over HTTP. */
export function httpAnswer(status: number, text: string): (fanOut: Actor['fanOut']) => CallResult {
  return (fanOut) => answerFromHttp({ status, text }, fanOut);
}

export async function handling(given: Handling = {}): Promise<HandlingEnd> {
  const {
    body = anEnvelope(),
    end = socketAnswer('{"ok":true}'),
    timeLeftMs = Number.POSITIVE_INFINITY,
  } = given;
  const actor = actorOf(given);
  const clock = given.clock ?? { now: () => NOW, sleep: () => Promise.resolve() };
  const readyAt = clock.now() + (given.startsForMs ?? 0);
  const runtime = {
    ...fakeRuntime(() => (typeof end === 'function' ? end(actor.fanOut) : end)),
    ...(given.startsForMs !== undefined && {
      isStarting: () => clock.now() < readyAt,
      untilStarted: async (stop: AbortSignal) => {
        await clock.sleep(readyAt - clock.now(), stop);
        return given.startEndsAs ?? (stop.aborted ? 'stopped' : 'settled');
      },
    }),
  };
  const telemetry = recordingTelemetry();
  const sends: Sent[] = [];
  let hasHung = false;
  const onCallEnded = (hung: boolean) => {
    hasHung = hung;
    given.onCallEnded?.();
  };
  const handled = await handleDelivery(
    {
      body: typeof body === 'string' || body instanceof Uint8Array ? body : JSON.stringify(body),
      messageId: 'm-1',
      queue: given.queue ?? actor.name,
      receiveCount: given.receiveCount ?? 1,
    },
    { timeLeftMs, onCallEnded },
    {
      actor,
      limits: { ...LIMITS, ...given.limits },
      runtime,
      send: (dispatch) => {
        const { to, type, delayMs } = dispatch;
        sends.push({ to, type, delayMs, envelope: JSON.parse(dispatch.body) as SentEnvelope });
        return given.send?.(dispatch) ?? Promise.resolve(ACCEPTED);
      },
      clock,
      random: () => 0,
      deriveId,
      telemetry,
    },
  );
  const [report, ...more] = telemetry.reports;
  if (report === undefined || more.length > 0)
    throw new Error(`${telemetry.reports.length} reports for one delivery`);
  return {
    ...handled,
    hasHung,
    sends,
    calls: runtime.calls.map(({ envelope, timeoutMs }) => ({ payload: envelope.payload, timeoutMs })),
    report,
    telemetry,
    facts: factsOf(report),
  };
}

function factsOf({ facts }: DeliveryReport): readonly string[] {
  return facts.map(labelOf).filter((label) => label !== undefined);
}

function labelOf(fact: Fact): string | undefined {
  switch (fact.fact) {
    case 'result':
      return fact.result;
    case 'failed':
      return fact.reason;
    case 'runtime-error':
      return fact.errorType;
    case 'sent':
    case 'failure':
    case 'policy':
      return undefined;
  }
}
