const LENGTH_BYTES = 4;
/** Above the largest valid `ASYA_RUNTIME_MAX_RESPONSE`: these four bytes are not a length, but another protocol. */
const MAX_FRAME_BYTES = 1_000_000_000;
const NOT_A_FRAME =
  "the runtime's answer does not start with a frame length; " +
  'if the runtime speaks HTTP, use http+unix: in ASYA_RUNTIME_URL';

export class AnswerTooLarge extends Error {
  constructor(bytes: number, maxBytes: number) {
    super(
      `the runtime's answer has ${bytes} bytes; at most ${maxBytes} are allowed (ASYA_RUNTIME_MAX_RESPONSE)`,
    );
  }
}

/** Splits chunks into frames. A frame is a 4-byte big-endian length, then that many bytes. */
export interface FrameReader {
  /** Calls back for each frame that the chunk completes. Returns the problem if the bytes are not valid frames. */
  add(chunk: Buffer, onFrame: (frame: Buffer) => void): Error | undefined;
  /** Whether a part of a further frame has arrived. */
  isInFrame(): boolean;
}

/** @param onTooLong Called for a frame above the limit, which is then skipped. Default: such a frame is a problem. */
export function frameReader(maxBytes: number, onTooLong?: (bytes: number) => void): FrameReader {
  let rest: Buffer = Buffer.alloc(0);
  /** How many bytes of a frame above the limit are still to come. */
  let skippingBytes = 0;
  /** The frame that is incomplete, and how much of it has arrived. */
  let body: Buffer | undefined;
  let filled = 0;

  /** Continues the incomplete frame. Returns what is left of the chunk. */
  function fill(chunk: Buffer, target: Buffer, onFrame: (frame: Buffer) => void): Buffer {
    const taken = chunk.copy(target, filled, 0, target.length - filled);
    filled += taken;
    if (filled === target.length) {
      body = undefined;
      onFrame(target);
    }
    return chunk.subarray(taken);
  }

  function skip(): void {
    const skipped = Math.min(skippingBytes, rest.length);
    skippingBytes -= skipped;
    rest = rest.subarray(skipped);
  }

  return {
    add: (chunk, onFrame) => {
      rest = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
      if (body !== undefined) rest = fill(rest, body, onFrame);
      skip();
      while (rest.length >= LENGTH_BYTES) {
        const length = rest.readUInt32BE(0);
        if (length > MAX_FRAME_BYTES) return new Error(NOT_A_FRAME);
        if (length > maxBytes && onTooLong === undefined) return new AnswerTooLarge(length, maxBytes);
        if (length > maxBytes) {
          skippingBytes = length;
          rest = rest.subarray(LENGTH_BYTES);
          skip();
          onTooLong?.(length);
          continue;
        }
        const end = LENGTH_BYTES + length;
        if (rest.length >= end) {
          const frame = rest.subarray(LENGTH_BYTES, end);
          rest = rest.subarray(end);
          onFrame(frame);
        } else {
          body = Buffer.allocUnsafe(length);
          filled = 0;
          rest = fill(rest.subarray(LENGTH_BYTES), body, onFrame);
        }
      }
      return undefined;
    },
    isInFrame: () => body !== undefined || skippingBytes > 0 || rest.length > 0,
  };
}

/** A character of UTF-8 has at most this many bytes. */
const MAX_CHARACTER_BYTES = 4;

/** Frames in one buffer: one write, so that the runtime does not wake up for a part of the request. */
export function encodeFrames(...texts: readonly string[]): Buffer {
  // Counting the bytes of a long text takes longer than writing them, and most texts are ASCII.
  const asciiBytes = texts.reduce((sum, text) => sum + LENGTH_BYTES + text.length, 0);
  const frames = Buffer.allocUnsafe(asciiBytes + MAX_CHARACTER_BYTES);
  let at = 0;
  for (const text of texts) {
    const written = frames.write(text, at + LENGTH_BYTES, 'utf8');
    frames.writeUInt32BE(written, at);
    at += LENGTH_BYTES + written;
    // If another character had fitted, nothing was cut off.
    if (frames.length - at < MAX_CHARACTER_BYTES) return encodeCountedFrames(texts);
  }
  return frames.subarray(0, at);
}

function encodeCountedFrames(texts: readonly string[]): Buffer {
  const lengths = texts.map((text) => Buffer.byteLength(text));
  const frames = Buffer.allocUnsafe(lengths.reduce((sum, length) => sum + LENGTH_BYTES + length, 0));
  let at = 0;
  for (const [index, text] of texts.entries()) {
    at = frames.writeUInt32BE(lengths[index] ?? 0, at);
    at += frames.write(text, at, 'utf8');
  }
  return frames;
}
