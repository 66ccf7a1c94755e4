import { createServer, type Server, type Socket } from 'node:net';
import { IS_DEBUG, log } from '../log.ts';
import { valueAt } from '../value-at.ts';
import { encodeFrame, readFrames } from './frames.ts';
import type { HandlerHost } from './handler-host.ts';

/** The socket protocol: one frame is a call, one frame is its answer, one call at a time on each connection. */
export function createSocketServer(host: HandlerHost): Server {
  return createServer({ allowHalfOpen: true }, (socket) => void serveConnection(host, socket));
}

async function serveConnection(host: HandlerHost, socket: Socket): Promise<void> {
  socket.on('error', () => {}); // the client disconnected; its call continues
  try {
    for await (const body of readFrames(socket, host.settings.maxRequestBytes)) {
      if (!host.begin()) break;
      try {
        const reply = await host.answer(body, undefined);
        await new Promise<void>((resolve) => socket.write(encodeFrame(reply.body), () => resolve()));
      } finally {
        host.finish();
      }
    }
    socket.end();
  } catch (error) {
    if (IS_DEBUG) log(`a connection was lost: ${valueAt(error, 'message')}`);
  }
}
