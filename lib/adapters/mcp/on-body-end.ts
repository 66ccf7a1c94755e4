/** The same response; `close` is called once, when its body has ended or nobody reads it any more. */
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
