import type { Socket } from 'node:net';
import { log } from '../log.ts';

/** A frame is a 4-byte big-endian length, then that many bytes of JSON. */
const HEADER_BYTES = 4;

export function encodeFrame(text: string): Buffer {
  const frame = Buffer.allocUnsafe(HEADER_BYTES + Buffer.byteLength(text));
  frame.writeUInt32BE(frame.length - HEADER_BYTES);
  frame.write(text, HEADER_BYTES);
  return frame;
}

/** The bodies of a connection's frames. Ends when the connection ends, or at a frame above the limit. */
export async function* readFrames(socket: Socket, maxBytes: number): AsyncGenerator<Buffer> {
  let chunks: Buffer[] = [];
  let size = 0;
  let bodySize: number | undefined;
  for await (const chunk of socket as AsyncIterable<Buffer>) {
    chunks.push(chunk);
    size += chunk.length;
    for (let wanted = bodySize ?? HEADER_BYTES; size >= wanted; wanted = bodySize ?? HEADER_BYTES) {
      const all = Buffer.concat(chunks);
      const part = all.subarray(0, wanted);
      chunks = [all.subarray(wanted)];
      size -= wanted;
      if (bodySize !== undefined) {
        bodySize = undefined;
        yield part;
        continue;
      }
      bodySize = part.readUInt32BE();
      if (bodySize <= maxBytes) continue;
      log(
        `closed a connection: a frame of ${bodySize} bytes is larger than ` +
          `ASYA_RUNTIME_MAX_REQUEST (${maxBytes} bytes)`,
      );
      return;
    }
  }
  if (size > 0 || bodySize !== undefined) log('a connection ended in the middle of a frame');
}
