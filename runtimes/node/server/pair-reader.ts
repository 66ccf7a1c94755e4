/** A pair of a JSON head and a body. The size of a body above the limit, which was skipped. */
export interface IncomingPair {
  readonly head: Buffer;
  readonly body: Buffer | { readonly skippedBytes: number };
}

const LENGTH_BYTES = 4;

/** Reads pairs of frames: 4 bytes with a length, then that many bytes. A body above the limit is skipped. */
export function pairReader(
  maxBodyBytes: number,
  onPair: (pair: IncomingPair) => void,
): (chunk: Buffer) => void {
  let chunks: Buffer[] = [];
  let size = 0;
  /** The length of the frame that is being read. Undefined: its length is being read. */
  let frameBytes: number | undefined;
  let skippingBytes = 0;
  let head: Buffer | undefined;

  function onFrame(frame: IncomingPair['body']): void {
    if (head === undefined) {
      head = frame as Buffer;
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
      if (head === undefined || bytes <= maxBodyBytes) {
        frameBytes = bytes;
        continue;
      }
      skippingBytes = bytes;
      skip();
      onFrame({ skippedBytes: bytes });
    }
  };
}
