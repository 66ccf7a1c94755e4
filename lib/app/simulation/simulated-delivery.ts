import type { CallResult } from '../../core/delivery/outcome.ts';
import type { Dispatch, Fact } from '../../core/delivery/plan.ts';
import { decode } from '../../core/envelope/decode.ts';
import type { Envelope } from '../../core/envelope/envelope.ts';
import { defined } from '../../core/text/defined.ts';
import type { DeliveryReport } from '../../ports/telemetry.ts';
import { type DeliveryLine, handleDelivery } from '../delivery/handle-delivery.ts';
import type { SimulatedMessage } from './simulated-queues.ts';

/** A delivery that the line has processed, and everything that was observed at its ports. */
export interface ObservedDelivery {
  readonly line: DeliveryLine;
  /** The received one. */
  readonly envelope: Envelope;
  readonly arrivedAt: number;
  readonly decidedAt: number;
  readonly attempt: number;
  readonly call?: { readonly timeoutMs: number; readonly tookMs: number; readonly end: CallResult };
  /** The random number that the line used. */
  readonly randomValue: number;
  readonly facts: readonly Fact[];
  readonly sent: readonly Dispatch[];
  readonly settle: 'ack' | 'release';
  readonly problem?: string;
}

/** Processes a delivery with the real line and observes each of its ports. */
export async function observeDelivery(
  message: SimulatedMessage,
  line: DeliveryLine,
): Promise<ObservedDelivery> {
  const { clock, runtime, random } = line;
  const sent: Dispatch[] = [];
  const arrivedAt = clock.now();
  let call: ObservedDelivery['call'];
  let randomValue = 0;
  let report: DeliveryReport | undefined;
  const watched: DeliveryLine = {
    ...line,
    runtime: {
      ...runtime,
      call: async (request) => {
        const end = await runtime.call(request);
        call = { timeoutMs: request.timeoutMs, tookMs: clock.now() - arrivedAt, end };
        return end;
      },
    },
    send: async (dispatch) => {
      const reply = await line.send(dispatch);
      if (reply.ok) sent.push(dispatch);
      return reply;
    },
    random: () => {
      randomValue = random();
      return randomValue;
    },
    telemetry: {
      ...line.telemetry,
      ended: (ended) => {
        report = ended;
      },
    },
  };
  const host = { timeLeftMs: Number.POSITIVE_INFINITY };
  const { settle } = await handleDelivery({ ...message, receiveCount: 1 }, host, watched);
  if (report === undefined) throw new Error('the line did not report a delivery');
  const { attempt, facts, problem } = report;
  const { queue, messageId, body } = message;
  const { envelope } = decode(body, { actor: queue, messageId, deriveId: line.deriveId });
  return {
    line,
    envelope,
    arrivedAt,
    decidedAt: clock.now(),
    attempt,
    ...defined({ call }),
    randomValue,
    facts,
    sent,
    settle,
    ...defined({ problem }),
  };
}
