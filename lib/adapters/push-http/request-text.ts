import type { IncomingMessage } from 'node:http';

export type RequestText =
  | { readonly text: string }
  | { readonly status: 400 | 413; readonly problem: string };

/** The whole body, or why it cannot be had. What is too large is left unread, so that it can still be answered. */
export function textWithin(request: IncomingMessage, mostBytes: number): Promise<RequestText> {
  const tooLarge = { status: 413, problem: `the body has more than ${mostBytes} bytes` } as const;
  if (Number(request.headers['content-length'] ?? 0) > mostBytes) return Promise.resolve(tooLarge);
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    let bytes = 0;
    request.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes <= mostBytes) return void chunks.push(chunk);
      request.pause();
      resolve(tooLarge);
    });
    request.once('end', () => resolve({ text: Buffer.concat(chunks).toString('utf8') }));
    const cutOff = () => resolve({ status: 400, problem: 'the request ended before its body did' });
    request.once('error', cutOff);
    request.once('close', cutOff);
  });
}
