import { formatSSEErrorEvent, formatSSEEvent, SSE_HEADERS } from '@a2a-js/sdk';

export interface EventStream {
  readonly events: AsyncGenerator<unknown, void, undefined>;
  /** What the last event is where they break off. */
  readonly errorEvent: (error: unknown) => unknown;
  /** A comment so often, for those on the way who cut silent connections. */
  readonly keepAliveMs: number;
  /** Nobody reads any more. */
  readonly onDisconnect: () => void;
}

/** Events as they come, as server-sent ones. What is wrong before the first of them is thrown. */
export async function eventStreamResponse(stream: EventStream): Promise<Response> {
  const { events, errorEvent, keepAliveMs, onDisconnect } = stream;
  const bytes = new TextEncoder();
  let next: IteratorResult<unknown> | undefined = await events.next();
  let keepAlive: NodeJS.Timeout | undefined;

  async function following(): Promise<string | undefined> {
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
      const text = await following();
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
