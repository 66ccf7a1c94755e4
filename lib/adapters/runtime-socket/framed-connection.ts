import { connect, type Socket } from 'node:net';

/** A connection that is kept open. A frame is a 4-byte big-endian length, then that many bytes of JSON. */
export interface FramedConnection {
  /**
   * Sends a frame and resolves with the body of the answer. Rejects if the connection is lost, and with
   * `AnswerTooLarge` if the answer is above the limit.
   */
  exchange(text: string): Promise<Buffer>;
  readonly isOpen: boolean;
  destroy(): void;
}

const HEADER_BYTES = 4;
/** Above the largest valid `ASYA_RUNTIME_MAX_RESPONSE`: these four bytes are not a length, but another protocol. */
const MAX_FRAME_BYTES = 1_000_000_000;
const NOT_A_FRAME =
  "the runtime's answer does not start with a frame length; " +
  'if the runtime speaks HTTP, use http+unix: in ASYA_RUNTIME_URL';

export class AnswerTooLarge extends Error {}

export function openConnection(path: string, maxAnswerBytes: number): Promise<FramedConnection> {
  return new Promise((resolve, reject) => {
    const socket = connect(path);
    socket.once('error', reject);
    socket.once('connect', () => {
      socket.off('error', reject);
      resolve(framedConnection(socket, maxAnswerBytes));
    });
  });
}

interface Pending {
  readonly resolve: (answer: Buffer) => void;
  readonly reject: (error: Error) => void;
}

function framedConnection(socket: Socket, maxAnswerBytes: number): FramedConnection {
  let pending: Pending | undefined;
  let isOpen = true;
  const frame = frameReader(maxAnswerBytes);

  function fail(error: Error): void {
    isOpen = false;
    socket.destroy();
    pending?.reject(error);
    pending = undefined;
  }

  socket.on('data', (chunk) => {
    const reading = pending === undefined ? 'the runtime sent data without a request' : frame.add(chunk);
    if (typeof reading === 'string') fail(new Error(reading));
    else if (reading instanceof AnswerTooLarge) fail(reading);
    else if (reading !== undefined) {
      const { resolve } = pending as Pending;
      pending = undefined;
      resolve(reading);
    }
  });
  socket.on('error', fail);
  socket.on('close', () => fail(new Error('the runtime closed the connection before it answered')));

  return {
    exchange: (text) =>
      new Promise((resolve, reject) => {
        if (!isOpen) return reject(new Error('the connection to the runtime is closed'));
        pending = { resolve, reject };
        writeFrame(socket, text);
      }),
    get isOpen() {
      return isOpen;
    },
    destroy: () => fail(new Error('the call was canceled')),
  };
}

/** Header and body in one write, so that the runtime does not wake up for the header only. */
function writeFrame(socket: Socket, text: string): void {
  const length = Buffer.byteLength(text);
  const frame = Buffer.allocUnsafe(HEADER_BYTES + length);
  frame.writeUInt32BE(length, 0);
  frame.write(text, HEADER_BYTES, 'utf8');
  socket.write(frame);
}

interface FrameReader {
  /** The body of the frame; undefined while it is incomplete; or an error. */
  add(chunk: Buffer): Buffer | undefined | string | AnswerTooLarge;
}

function frameReader(maxBytes: number): FrameReader {
  let header = Buffer.alloc(0);
  let body: Buffer | undefined;
  let filled = 0;
  return {
    add: (chunk) => {
      let rest = chunk;
      if (body === undefined) {
        const isWhole = header.length === 0 && rest.length >= HEADER_BYTES;
        if (!isWhole) {
          header = Buffer.concat([header, rest]);
          if (header.length < HEADER_BYTES) return undefined;
          rest = header;
        }
        const length = rest.readUInt32BE(0);
        if (length > MAX_FRAME_BYTES) return NOT_A_FRAME;
        if (length > maxBytes)
          return new AnswerTooLarge(
            `the runtime's answer has ${length} bytes; at most ${maxBytes} are allowed (ASYA_RUNTIME_MAX_RESPONSE)`,
          );
        rest = rest.subarray(HEADER_BYTES);
        header = Buffer.alloc(0);
        if (rest.length === length) return rest;
        if (rest.length > length) return 'the runtime sent more than one answer';
        body = Buffer.allocUnsafe(length);
        filled = 0;
      }
      if (filled + rest.length > body.length) return 'the runtime sent more than one answer';
      rest.copy(body, filled);
      filled += rest.length;
      if (filled < body.length) return undefined;
      const whole = body;
      body = undefined;
      return whole;
    },
  };
}
