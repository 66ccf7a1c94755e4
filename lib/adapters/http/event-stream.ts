import type { TaskEvent } from '../../core/task/task.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Telemetry } from '../../ports/telemetry.ts';
import { eventText } from './task-json.ts';

export interface StreamOptions {
  readonly task: string;
  readonly events: AsyncIterable<TaskEvent>;
  /** Aborted when the client disconnects or the stream has ended. */
  readonly stop: AbortController;
  readonly clock: Clock;
  readonly keepAliveMs: number;
  readonly telemetry: Pick<Telemetry, 'warn'>;
}

/** A Lambda function runs for at most 15 minutes. The client reconnects with `Last-Event-ID` and continues there. */
const MAX_STREAM_MS = 600_000;

/** How long a browser waits before it reconnects. */
const RETRY = 'retry: 1000\n\n';
/** An SSE comment, so that proxies do not close an idle connection. */
const KEEP_ALIVE = ': keep-alive\n\n';

export function eventStream(options: StreamOptions): Response {
  const { task, events, stop, clock, keepAliveMs, telemetry } = options;
  const encoder = new TextEncoder();
  const body = new ReadableStream<Uint8Array>({
    start: (controller) => {
      const end = () => {
        if (stop.signal.aborted) return;
        stop.abort();
        controller.close();
      };
      const write = (text: string) => {
        if (!stop.signal.aborted) controller.enqueue(encoder.encode(text));
      };
      write(RETRY);
      void clock.sleep(MAX_STREAM_MS, stop.signal).then(end);
      void (async () => {
        while (!stop.signal.aborted) {
          await clock.sleep(keepAliveMs, stop.signal);
          write(KEEP_ALIVE);
        }
      })();
      void (async () => {
        for await (const event of events) write(eventText(task, event));
      })()
        .catch((error: Error) => {
          // The status was already sent; the client reconnects.
          telemetry.warn('internal error in the gateway', { problem: error.stack ?? error.message });
        })
        .finally(end);
    },
    cancel: () => stop.abort(),
  });
  return new Response(body, {
    headers: {
      'content-type': 'text/event-stream',
      'cache-control': 'no-store',
      'x-accel-buffering': 'no',
    },
  });
}
