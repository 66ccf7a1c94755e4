import { createServer, type Server, type Socket } from 'node:net';
import { IS_DEBUG, log } from '../log.ts';
import { valueAt } from '../value-at.ts';
import { encodeFrames, onFrames } from './frames.ts';
import type { HandlerHost } from './handler-host.ts';
import { write } from './write.ts';

/** The socket protocol: one frame is a call, one frame is its answer, one call at a time on each connection. */
export function createSocketServer(host: HandlerHost): Server {
  return createServer({ allowHalfOpen: true }, (socket) => {
    serveCalls(socket, host, (take) => {
      onFrames(
        socket,
        host.settings.maxRequestBytes,
        (body) =>
          take.call(async () => write(socket, encodeFrames((await host.answer(body, undefined)).body))),
        take.end,
      );
    });
  });
}

/** The calls of one connection. */
export interface ConnectionCalls {
  /** Queues a call. Calls run one after the other. */
  call(run: () => Promise<void>): void;
  /** No more calls follow: the connection ends after the last one. */
  end(): void;
}

/** Runs the calls of a connection in order, and counts them. A call that the closing host refuses ends the connection. */
export function serveCalls(
  socket: Socket,
  host: HandlerHost,
  listen: (calls: ConnectionCalls) => void,
): void {
  let last = Promise.resolve();
  let isRefused = false;
  socket.on('error', (error) => {
    // The client disconnected; its call continues.
    if (IS_DEBUG) log(`a connection was lost: ${valueAt(error, 'message')}`);
  });
  listen({
    call: (run) => {
      last = last.then(async () => {
        if (isRefused || !host.begin()) {
          isRefused = true;
          socket.end();
          return;
        }
        try {
          await run();
        } finally {
          host.finish();
        }
      });
    },
    end: () => void last.then(() => socket.end()),
  });
}
