import type { Socket } from 'node:net';

/** Undefined if the bytes were written at once. Otherwise resolves when they are, or when the connection is lost. */
export function write(socket: Socket, bytes: Buffer): Promise<void> | undefined {
  const writing = new Promise<void>((resolve) => socket.write(bytes, () => resolve()));
  return socket.writableLength === 0 ? undefined : writing;
}
