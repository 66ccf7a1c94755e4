import type { Socket } from 'node:net';
import { type ByteServer, startByteServer } from '../../support/byte-server.ts';

/** A server on a Unix socket for which the test writes every byte. */
export interface FrameServer extends Pick<ByteServer, 'path' | 'accepted' | 'open' | 'close'> {
  /** The bodies of the requests, in order of arrival. */
  readonly requests: string[];
}

export type Behaviour = (
  socket: Socket,
  request: string,
  nth: { connection: number; request: number },
) => void;

/** Calls `behave` for each complete frame, and `greet` for each connection. */
export async function startFrameServer(
  behave: Behaviour,
  greet: (socket: Socket, connection: number) => void = () => {},
): Promise<FrameServer> {
  const requests: string[] = [];
  const server = await startByteServer('unix', (socket, connection) => {
    greet(socket, connection);
    let received = Buffer.alloc(0);
    let count = 0;
    socket.on('data', (chunk) => {
      received = Buffer.concat([received, chunk]);
      while (received.length >= 4 && received.length >= 4 + received.readUInt32BE(0)) {
        const end = 4 + received.readUInt32BE(0);
        const request = received.toString('utf8', 4, end);
        received = received.subarray(end);
        requests.push(request);
        behave(socket, request, { connection, request: count++ });
      }
    });
  });
  return { ...server, requests };
}

export function frameOf(text: string | Buffer): Buffer {
  const body = Buffer.from(text);
  const header = Buffer.alloc(4);
  header.writeUInt32BE(body.length, 0);
  return Buffer.concat([header, body]);
}

/** A frame header that announces this many bytes. */
export function headerOf(bytes: number): Buffer {
  const header = Buffer.alloc(4);
  header.writeUInt32BE(bytes, 0);
  return header;
}
