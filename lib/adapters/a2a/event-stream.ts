import { formatSSEErrorEvent, formatSSEEvent, SSE_HEADERS } from '@a2a-js/sdk';

export interface EventStream {
  readonly events: AsyncGenerator<unknown, void, undefined>;
  /** Converts an error of `events` to the last event of the stream. */
  readonly errorEvent: (error: unknown) => unknown;
  /** Interval of SSE comments, so that proxies do not close an idle connection. */
  readonly keepAliveMs: number;
  /** Called when the client disconnects. */
  readonly onDisconnect: () => void;
}

/** Streams events as server-sent events. Rejects if `events` fails before the first one. */
export async function eventStreamResponse(stream: EventStream): Promise<Response> {
  const { events, errorEvent, keepAliveMs, onDisconnect } = stream;
  const bytes = new TextEncoder();
  let next: IteratorResult<unknown> | undefined = await events.next();
  let keepAlive: NodeJS.Timeout | undefined;

  async function nextText(): Promise<string | undefined> {
    try {
      const { done, value } = next ?? (await events.next());
      next = undefined;
      return done === true ? undefined : formatSSEEvent(value);
    } catch (error) {
      return formatSSEErrorEvent(errorEvent(error));
    }
  }

  const body = new ReadableStream<Uint8Array>({
    start: (controller) => {
      keepAlive = setInterval(
        () => controller.enqueue(bytes.encode(': keep-alive\n\n')),
        keepAliveMs,
      ).unref();
    },
    pull: async (controller) => {
      const text = await nextText();
      if (text !== undefined) return controller.enqueue(bytes.encode(text));
      clearInterval(keepAlive);
      controller.close();
    },
    cancel: () => {
      clearInterval(keepAlive);
      onDisconnect();
    },
  });
  return new Response(body, { headers: SSE_HEADERS });
}
