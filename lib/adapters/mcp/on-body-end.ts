/** Returns the same response; calls `close` when its body has ended or the client disconnects. */
export function onBodyEnd(response: Response, close: () => void): Response {
  if (response.body === null) {
    close();
    return response;
  }
  const reader = response.body.getReader();
  const body = new ReadableStream<Uint8Array>({
    pull: async (controller) => {
      const { done, value } = await reader.read();
      if (!done) return controller.enqueue(value);
      close();
      controller.close();
    },
    cancel: async (reason) => {
      close();
      await reader.cancel(reason);
    },
  });
  return new Response(body, response);
}
