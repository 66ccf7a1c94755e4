import type { IncomingMessage } from 'node:http';

export type RequestText =
  | { readonly text: string }
  | { readonly status: 400 | 413; readonly problem: string };

/** The whole body, or why it cannot be had. Of what is too large nothing is kept. */
export function textWithin(request: IncomingMessage, mostBytes: number): Promise<RequestText> {
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    let bytes = 0;
    request.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes <= mostBytes) chunks.push(chunk);
      else chunks.length = 0;
    });
    request.once('end', () =>
      resolve(
        bytes <= mostBytes
          ? { text: Buffer.concat(chunks).toString('utf8') }
          : { status: 413, problem: `the body has ${bytes} bytes; ${mostBytes} are taken` },
      ),
    );
    request.once('close', () => resolve({ status: 400, problem: 'the request ended before its body did' }));
  });
}

/** To the end, for nothing: who is answered before may still be writing, and would hear of a broken pipe instead. */
export function discardRest(request: IncomingMessage): Promise<void> {
  if (request.complete || request.destroyed) return Promise.resolve();
  return new Promise((resolve) => {
    request.once('end', resolve);
    request.once('close', resolve);
    request.resume();
  });
}
