/** A frame, or the size of one above the limit, which was skipped. */
export type Frame = Buffer | { readonly skippedBytes: number };

/** A JSON head and a body. */
export interface IncomingPair {
  readonly head: Frame;
  readonly body: Frame;
}

const LENGTH_BYTES = 4;
/** Heads may be this large even if the limit is small: without its head, a call has no number. */
const MIN_HEAD_LIMIT = 1024 * 1024;

/** Reads pairs of frames: 4 bytes with a length, then that many bytes. A frame above the limit is skipped. */
export function pairReader(maxBytes: number, onPair: (pair: IncomingPair) => void): (chunk: Buffer) => void {
  let chunks: Buffer[] = [];
  let size = 0;
  /** The length of the frame that is being read. Undefined: its length is being read. */
  let frameBytes: number | undefined;
  let skippingBytes = 0;
  let head: Frame | undefined;

  function onFrame(frame: Frame): void {
    if (head === undefined) {
      head = frame;
      return;
    }
    const pair = { head, body: frame };
    head = undefined;
    onPair(pair);
  }

  function take(bytes: number): Buffer {
    const [first = Buffer.alloc(0)] = chunks;
    const all = chunks.length > 1 ? Buffer.concat(chunks) : first;
    chunks = [all.subarray(bytes)];
    size -= bytes;
    return all.subarray(0, bytes);
  }

  function skip(): void {
    const bytes = Math.min(size, skippingBytes);
    if (bytes === 0) return;
    take(bytes);
    skippingBytes -= bytes;
  }

  return (chunk) => {
    chunks.push(chunk);
    size += chunk.length;
    skip();
    while (size >= (frameBytes ?? LENGTH_BYTES)) {
      const part = take(frameBytes ?? LENGTH_BYTES);
      if (frameBytes !== undefined) {
        frameBytes = undefined;
        onFrame(part);
        continue;
      }
      const bytes = part.readUInt32BE();
      if (bytes <= (head === undefined ? Math.max(maxBytes, MIN_HEAD_LIMIT) : maxBytes)) {
        frameBytes = bytes;
        continue;
      }
      skippingBytes = bytes;
      skip();
      onFrame({ skippedBytes: bytes });
    }
  };
}
