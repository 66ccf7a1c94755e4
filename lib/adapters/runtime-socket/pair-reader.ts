import { frameReader } from './frame-reader.ts';

/** The body of a pair, or its size if it is above the limit and was skipped. */
export type Body = Buffer | { readonly skippedBytes: number };

/**
 * Reads pairs of a head and a body. A body above the limit is skipped, so that what follows can still be read. Returns
 * the problem if the bytes are not pairs.
 */
export function pairReader(
  maxBytes: number,
  onPair: (head: Buffer, body: Body) => void,
): (chunk: Buffer) => Error | undefined {
  let head: Buffer | undefined;
  let problem: Error | undefined;

  function onFrame(frame: Body): void {
    if (head !== undefined) {
      const read = head;
      head = undefined;
      onPair(read, frame);
    } else if ('skippedBytes' in frame)
      problem ??= new Error(
        `the head of a pair has ${frame.skippedBytes} bytes; at most ${maxBytes} are read`,
      );
    else head = frame;
  }

  const frames = frameReader(maxBytes, (skippedBytes) => onFrame({ skippedBytes }));
  return (chunk) => frames.add(chunk, onFrame) ?? problem;
}
