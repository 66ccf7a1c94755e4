import { connect, type Socket } from 'node:net';
import { frameReader } from './frame-reader.ts';

/** A connection to the runtime that is kept open. It carries one call at a time. */
export interface FramedConnection {
  /**
   * Sends a request and calls `onFrame` with each frame of the answer, until it returns true: then the answer is
   * complete. Rejects if the connection is lost, and with `AnswerTooLarge` if a frame is above the limit.
   */
  exchange(request: Buffer, onFrame: (frame: Buffer) => boolean): Promise<void>;
  /** Sends more bytes to the runtime during an exchange. */
  write(bytes: Buffer): void;
  readonly isOpen: boolean;
  destroy(): void;
}

export function openConnection(path: string, maxFrameBytes: number): Promise<FramedConnection> {
  return new Promise((resolve, reject) => {
    const socket = connect(path);
    socket.once('error', reject);
    socket.once('connect', () => {
      socket.off('error', reject);
      resolve(framedConnection(socket, maxFrameBytes));
    });
  });
}

/** The runtime ended the connection during a call, possibly because its process ended. */
export class ConnectionClosed extends Error {
  constructor() {
    super('the runtime closed the connection before it answered');
  }
}

const MORE_THAN_ONE = 'the runtime sent more than one answer';

interface Exchange {
  readonly onFrame: (frame: Buffer) => boolean;
  readonly resolve: () => void;
  readonly reject: (error: Error) => void;
}

function framedConnection(socket: Socket, maxFrameBytes: number): FramedConnection {
  let exchange: Exchange | undefined;
  let isOpen = true;
  const frames = frameReader(maxFrameBytes);

  function fail(error: Error): void {
    isOpen = false;
    socket.destroy();
    exchange?.reject(error);
    exchange = undefined;
  }

  socket.on('data', (chunk) => {
    let isComplete = false;
    const problem = frames.add(chunk, (frame) => {
      if (exchange === undefined) fail(new Error('the runtime sent data without a request'));
      else if (isComplete) fail(new Error(MORE_THAN_ONE));
      else isComplete = exchange.onFrame(frame);
    });
    if (problem !== undefined) fail(problem);
    else if (exchange === undefined) fail(new Error('the runtime sent data without a request'));
    else if (isComplete && frames.isInFrame()) fail(new Error(MORE_THAN_ONE));
    else if (isComplete) {
      exchange.resolve();
      exchange = undefined;
    }
  });
  socket.on('error', fail);
  socket.on('close', () => fail(new ConnectionClosed()));

  return {
    exchange: (request, onFrame) =>
      new Promise((resolve, reject) => {
        if (!isOpen) return reject(new Error('the connection to the runtime is closed'));
        exchange = { onFrame, resolve, reject };
        socket.write(request);
      }),
    write: (bytes) => {
      if (isOpen) socket.write(bytes);
    },
    get isOpen() {
      return isOpen;
    },
    destroy: () => fail(new Error('the call was canceled')),
  };
}
