import { once } from '../../async/once.ts';
import type { Envelope } from '../../core/envelope/envelope.ts';
import type { HandlerProgress } from '../../core/envelope/handler-progress.ts';
import { headerText, TASK } from '../../core/envelope/headers.ts';
import { limitProgress, MAX_DATA_BYTES } from '../../core/task/progress-limits.ts';
import { progressReportOf } from '../../core/task/report.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Progress } from '../../ports/reports.ts';
import type { Telemetry } from '../../ports/telemetry.ts';

/** Passes on what handlers report while they run: to the log and, for an envelope of a task, to the gateway. */
export interface HandlerUpdates {
  /**
   * Call it when the runtime is called with the envelope.
   * @param original The envelope as received. Default: the same.
   */
  begin(envelope: Envelope, original?: Envelope): CallUpdates;
}

interface CallUpdates {
  /** Returns at once and never throws. A field that an update leaves out keeps its last value. */
  readonly onProgress: (progress: HandlerProgress) => void;
  /** Whether an update was passed on: then the gateway knows that the call is running. */
  readonly hasReported: () => boolean;
  /** Passes on the last update if it still waits, without waiting for the gateway. Later updates are ignored. */
  end(): void;
}

export interface HandlerUpdatesDeps {
  readonly actor: { readonly name: string };
  readonly clock: Clock;
  readonly telemetry: Pick<Telemetry, 'warn' | 'progress'>;
  /** Undefined: there is no gateway. */
  readonly progress?: Progress;
}

/** The time between two reports of the same task, so that a task gets a few per second. */
const INTERVAL_MS = 300;

interface Call {
  readonly envelope: Envelope;
  readonly original: Envelope;
  latest: HandlerProgress;
  order: number;
}

/**
 * Throttles by task: the first update is passed on at once, and then the latest update of each envelope after every
 * interval. If the gateway does not respond, the next reports wait until the last ones were sent or lost, so that they do
 * not fill its queue.
 */
export function handlerUpdates({ actor, clock, telemetry, progress }: HandlerUpdatesDeps): HandlerUpdates {
  /** By task: the calls with an update that waits for the end of the interval. */
  const intervals = new Map<string, Set<Call>>();
  const warnAboutData = once((envelopeId: string) =>
    telemetry.warn(
      'the data of a progress update is too large or not JSON and was left out; further ones are not logged',
      {
        envelopeId,
        maxBytes: MAX_DATA_BYTES,
      },
    ),
  );

  async function report(call: Call): Promise<void> {
    const { envelope, original, latest } = call;
    const limited = limitProgress(latest);
    if (latest.data !== undefined && limited.data === undefined) warnAboutData(envelope.id);
    const { data, ...logged } = limited;
    if (Object.keys(limited).length === 0) return;
    telemetry.progress?.({ envelopeId: envelope.id, ...logged });
    call.order = Math.max(call.order + 1, clock.now());
    const reported = progressReportOf(envelope, original, limited, actor.name, call.order);
    if (reported !== undefined) await progress?.note(reported);
  }

  async function startInterval(key: string, first: Call): Promise<void> {
    const waiting = new Set<Call>();
    intervals.set(key, waiting);
    for (let due = [first]; due.length > 0; due = [...waiting]) {
      waiting.clear();
      await Promise.all([...due.map(report), clock.sleep(INTERVAL_MS)]);
    }
    intervals.delete(key);
  }

  return {
    begin: (envelope, original = envelope) => {
      const key = headerText(envelope.headers, TASK) ?? envelope.id;
      const call: Call = { envelope, original, latest: {}, order: 0 };
      let hasEnded = false;
      return {
        onProgress: (update) => {
          if (hasEnded) return;
          call.latest = { ...call.latest, ...update };
          const waiting = intervals.get(key);
          if (waiting === undefined) void startInterval(key, call);
          else waiting.add(call);
        },
        hasReported: () => call.order > 0,
        end: () => {
          hasEnded = true;
          if (intervals.get(key)?.delete(call)) void report(call);
        },
      };
    },
  };
}
