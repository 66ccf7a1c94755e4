import type { CallEnd } from '../../core/delivery/outcome.ts';
import type { Dispatch, Fact } from '../../core/delivery/plan.ts';
import { defined } from '../../core/text/defined.ts';
import type { DeliveryReport } from '../../ports/telemetry.ts';
import { handleDelivery, type Line } from '../delivery/handle-delivery.ts';
import type { SimulatedMessage } from './simulated-queues.ts';

/** A delivery that went down the line, with all that can be seen of it from outside. */
export interface Delivered {
  readonly line: Line;
  readonly arrivedAt: number;
  readonly decidedAt: number;
  readonly attempt: number;
  readonly call?: { readonly timeoutMs: number; readonly tookMs: number; readonly end: CallEnd };
  /** What the dice said. */
  readonly roll: number;
  readonly facts: readonly Fact[];
  readonly sent: readonly Dispatch[];
  readonly settle: 'ack' | 'release';
  readonly problem?: string;
}

/** The line as it is, with somebody who looks on at each of its ports. */
export async function deliver(message: SimulatedMessage, line: Line): Promise<Delivered> {
  const { clock, runtime, dice } = line;
  const sent: Dispatch[] = [];
  const arrivedAt = clock.now();
  let call: Delivered['call'];
  let roll = 0;
  let report: DeliveryReport | undefined;
  const watched: Line = {
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
    dice: () => {
      roll = dice();
      return roll;
    },
    telemetry: {
      ...line.telemetry,
      ended: (told) => {
        report = told;
      },
    },
  };
  const hosting = { timeLeftMs: Number.POSITIVE_INFINITY };
  const { settle } = await handleDelivery({ ...message, receiveCount: 1 }, hosting, watched);
  if (report === undefined) throw new Error('the line told nothing of a delivery');
  const { attempt, facts, problem } = report;
  return {
    line,
    arrivedAt,
    decidedAt: clock.now(),
    attempt,
    ...defined({ call }),
    roll,
    facts,
    sent,
    settle,
    ...defined({ problem }),
  };
}
