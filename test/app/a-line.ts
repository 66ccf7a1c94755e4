import type { DeliveryLine } from '../../lib/app/delivery/handle-delivery.ts';
import type { Actor } from '../../lib/core/delivery/actor.ts';
import type { CallResult } from '../../lib/core/delivery/outcome.ts';
import type { Dispatch } from '../../lib/core/delivery/plan.ts';
import type { Clock } from '../../lib/ports/clock.ts';
import type { Reply } from '../../lib/ports/reply.ts';
import type { Runtime, RuntimeRequest } from '../../lib/ports/runtime.ts';
import type { DeliveryReport, Details, Telemetry } from '../../lib/ports/telemetry.ts';
import type { Transport } from '../../lib/ports/transport.ts';
import { anActor, deriveId } from '../core/a-delivery.ts';

/** Test doubles for everything that processes a delivery, except for the transport. */

export interface FakeRuntime extends Runtime {
  readonly calls: readonly RuntimeRequest[];
  /** Calls in progress, and the largest number of them so far. */
  readonly running: number;
  readonly mostRunning: number;
  readonly interruptions: number;
}

/** Ends each call with the result of `endOf`. A call lasts until that promise resolves. */
export function fakeRuntime(
  endOf: (request: RuntimeRequest, nth: number) => CallResult | Promise<CallResult>,
  restartsItself = true,
): FakeRuntime {
  const calls: RuntimeRequest[] = [];
  let running = 0;
  let mostRunning = 0;
  let interruptions = 0;
  let interruption = Promise.withResolvers<CallResult>();
  return {
    restartsItself,
    calls,
    get running() {
      return running;
    },
    get mostRunning() {
      return mostRunning;
    },
    get interruptions() {
      return interruptions;
    },
    call: async (request) => {
      calls.push(request);
      running++;
      mostRunning = Math.max(mostRunning, running);
      try {
        return await Promise.race([endOf(request, calls.length), interruption.promise]);
      } finally {
        running--;
      }
    },
    interrupt: () => {
      interruptions++;
      interruption.resolve({ kind: 'interrupted' });
      interruption = Promise.withResolvers<CallResult>();
    },
    problem: async () => undefined,
    close: async () => {},
  };
}

export interface RecordedTelemetry extends Telemetry {
  readonly reports: readonly DeliveryReport[];
  readonly warnings: readonly string[];
  /** The details of each warning. */
  readonly warningDetails: readonly Details[];
  readonly steps: readonly string[];
  /** Everything recorded, as text, to check that something is not in it. */
  text(): string;
}

export function recordingTelemetry(): RecordedTelemetry {
  const reports: DeliveryReport[] = [];
  const warnings: string[] = [];
  const warningDetails: Details[] = [];
  const steps: string[] = [];
  const all: unknown[] = [];
  return {
    reports,
    warnings,
    warningDetails,
    steps,
    text: () => JSON.stringify(all),
    received: (count, waitedMs) => all.push({ count, waitedMs }),
    began: () => {},
    ended: (report) => {
      reports.push(report);
      all.push(report);
    },
    warn: (what, details) => {
      warnings.push(what);
      warningDetails.push(details);
      all.push({ what, details });
    },
    step: (what, details) => {
      steps.push(what);
      all.push({ what, details });
    },
  };
}

export interface LineOptions {
  readonly runtime: Runtime;
  readonly clock: Clock;
  readonly transport: Transport;
  readonly actor?: Partial<Actor>;
  readonly telemetry?: Telemetry;
}

/** A line where each queue has the name of its actor. */
export function aLine({ runtime, clock, transport, actor = {}, telemetry }: LineOptions): DeliveryLine {
  return {
    actor: anActor(actor),
    limits: transport.traits,
    runtime,
    send: senderTo(transport),
    clock,
    random: () => 0,
    deriveId,
    telemetry: telemetry ?? recordingTelemetry(),
  };
}

function senderTo(transport: Transport): (dispatch: Dispatch) => Promise<Reply> {
  return ({ to, body, delayMs }) =>
    delayMs > 0 ? transport.sendWithDelay(to, body, delayMs) : transport.send(to, body);
}
