import { connect } from 'node:net';

/** The minimal framed exchange: one connection, bytes in, bytes out, no parsing. */
export async function bareFrames(
  path: string,
): Promise<{ exchange(frame: Buffer): Promise<void>; close(): void }> {
  const socket = connect(path);
  await new Promise<void>((resolve, reject) => socket.once('connect', resolve).once('error', reject));
  let expected = 0;
  let received = 0;
  let done: () => void = () => {};
  socket.on('data', (chunk) => {
    received += chunk.length;
    if (received === expected) done();
  });
  return {
    exchange: (frame) =>
      new Promise((resolve) => {
        expected = frame.length;
        received = 0;
        done = resolve;
        socket.write(frame);
      }),
    close: () => socket.destroy(),
  };
}

export function frameOf(text: string): Buffer {
  const body = Buffer.from(text);
  const header = Buffer.alloc(4);
  header.writeUInt32BE(body.length);
  return Buffer.concat([header, body]);
}
