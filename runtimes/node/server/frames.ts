import type { Socket } from 'node:net';
import { log } from '../log.ts';

/** A frame is a 4-byte big-endian length, then that many bytes of JSON. */
const HEADER_BYTES = 4;

/** Several frames in one buffer, so that one write sends them. */
export function encodeFrames(...texts: readonly string[]): Buffer {
  const lengths = texts.map((text) => Buffer.byteLength(text));
  const bytes = Buffer.allocUnsafe(lengths.reduce((sum, length) => sum + HEADER_BYTES + length, 0));
  let at = 0;
  for (const [index, text] of texts.entries()) {
    at = bytes.writeUInt32BE(lengths[index] ?? 0, at);
    at += bytes.write(text, at, 'utf8');
  }
  return bytes;
}

/** Calls back for each frame of a connection. `onEnd` is called once, when no more frames will follow. */
export function onFrames(
  socket: Socket,
  maxBytes: number,
  onFrame: (body: Buffer) => void,
  onEnd: () => void,
): void {
  let chunks: Buffer[] = [];
  let size = 0;
  let bodySize: number | undefined;
  let isOver = false;

  function end(): void {
    if (isOver) return;
    isOver = true;
    onEnd();
  }

  socket.on('data', (chunk: Buffer) => {
    if (isOver) return;
    chunks.push(chunk);
    size += chunk.length;
    for (let wanted = bodySize ?? HEADER_BYTES; size >= wanted; wanted = bodySize ?? HEADER_BYTES) {
      const all = chunks.length === 1 && chunks[0] !== undefined ? chunks[0] : Buffer.concat(chunks);
      const part = all.subarray(0, wanted);
      chunks = [all.subarray(wanted)];
      size -= wanted;
      if (bodySize !== undefined) {
        bodySize = undefined;
        onFrame(part);
        continue;
      }
      bodySize = part.readUInt32BE();
      if (bodySize <= maxBytes) continue;
      log(
        `closed a connection: a frame of ${bodySize} bytes is larger than ` +
          `ASYA_RUNTIME_MAX_REQUEST (${maxBytes} bytes)`,
      );
      return end();
    }
  });
  socket.on('end', () => {
    if (!isOver && (size > 0 || bodySize !== undefined)) log('a connection ended in the middle of a frame');
    end();
  });
  socket.on('close', end);
}
