import type { IncomingMessage } from 'node:http';

export type RequestText =
  | { readonly text: string }
  | { readonly status: 400 | 413; readonly problem: string };

/** Reads the whole body. A body over the limit is read to its end but not stored. */
export function textWithin(request: IncomingMessage, maxBytes: number): Promise<RequestText> {
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    let bytes = 0;
    request.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes <= maxBytes) chunks.push(chunk);
      else chunks.length = 0;
    });
    request.once('end', () =>
      resolve(
        bytes <= maxBytes
          ? { text: Buffer.concat(chunks).toString('utf8') }
          : { status: 413, problem: `the body has ${bytes} bytes; at most ${maxBytes} are accepted` },
      ),
    );
    request.once('close', () =>
      resolve({ status: 400, problem: 'the connection was closed before the body was complete' }),
    );
  });
}

/** Reads the rest of the body. A client that is still writing would otherwise get a broken pipe instead of the response. */
export function discardRest(request: IncomingMessage): Promise<void> {
  if (request.complete || request.destroyed) return Promise.resolve();
  return new Promise((resolve) => {
    request.once('end', resolve);
    request.once('close', resolve);
    request.resume();
  });
}
