import { Socket } from 'node:net';
import { BadRequest } from '../bad-request.ts';
import { errorObjectFrom } from '../error-object.ts';
import { decodeRequest } from '../json.ts';
import { log } from '../log.ts';
import { StartupError } from '../startup-error.ts';
import { valueAt } from '../value-at.ts';
import { encodeFrames } from './frames.ts';
import type { HandlerHost } from './handler-host.ts';
import { type IncomingPair, pairReader } from './pair-reader.ts';
import { serveCall } from './serve-call.ts';

interface QueuedCall {
  readonly number: number;
  /** It must not start later, in milliseconds since 1970. */
  readonly startBy: number | undefined;
  readonly head: unknown;
  readonly body: IncomingPair['body'];
}

/**
 * Takes calls over a descriptor that the process inherited from the sidecar, which sends them ahead. They start strictly
 * in order, at most `concurrency` at the same time. When the stream ends, the sidecar has ended, and so does this process.
 */
export function serveChannel(host: HandlerHost, fd: number, concurrency: number): ChannelServer {
  const socket = openSocket(fd);
  const queue: QueuedCall[] = [];
  let running = 0;

  function onPair({ head: bytes, body }: IncomingPair): void {
    const head = decodeRequest(bytes);
    const number = valueAt(head, 'call');
    if (typeof number === 'number') {
      const startBy = valueAt(head, 'start_by');
      queue.push({ number, startBy: typeof startBy === 'number' ? startBy : undefined, head, body });
      startNext();
    } else if (valueAt(head, 'kind') === 'cancel') {
      host.cancel();
      refuseQueued();
    } else throw new BadRequest('the head of a pair has no call');
  }

  function startNext(): void {
    while (running < concurrency) {
      const call = queue.shift();
      if (call === undefined) return;
      const isLate = call.startBy !== undefined && Date.now() > call.startBy;
      if (isLate || !host.begin()) refuse(call);
      else void run(call);
    }
  }

  async function run({ number, head, body }: QueuedCall): Promise<void> {
    running += 1;
    const tag = (text: string): string => `{"call":${number},${text.slice(1)}`;
    if ('skippedBytes' in body) await sendTooLarge(body.skippedBytes, tag);
    else await serveCall({ readHead: () => head, body, socket, host, tag });
    running -= 1;
    host.finish();
    startNext();
  }

  async function sendTooLarge(bytes: number, tag: (head: string) => string): Promise<void> {
    const limit = host.settings.maxRequestBytes;
    const problem = `the payload has ${bytes} bytes; ASYA_RUNTIME_MAX_REQUEST allows ${limit}`;
    const error = JSON.stringify(errorObjectFrom(new BadRequest(problem), 'too_large'));
    socket.write(encodeFrames(tag('{"kind":"error"}'), error));
  }

  function refuse({ number }: QueuedCall): void {
    socket.write(encodeFrames(`{"kind":"late","call":${number}}`, ''));
  }

  function refuseQueued(): void {
    for (const call of queue.splice(0)) refuse(call);
  }

  const read = pairReader(host.settings.maxRequestBytes, onPair);
  socket.on('data', (chunk: Buffer) => {
    try {
      read(chunk);
    } catch (error) {
      log(
        `the sidecar sent something that cannot be read: ${valueAt(error, 'message')}; exiting with status 1`,
      );
      process.exit(1);
    }
  });
  const exit = (): never => process.exit(0);
  socket.on('error', exit);
  socket.on('end', exit);
  socket.on('close', exit);
  socket.write(encodeFrames('{"kind":"ready"}', ''));
  return { close: refuseQueued };
}

export interface ChannelServer {
  /** The calls that have not started will not start. */
  close(): void;
}

function openSocket(fd: number): Socket {
  try {
    return new Socket({ fd, readable: true, writable: true });
  } catch (error) {
    throw new StartupError(
      `ASYA_RUNTIME_FD is ${fd}, which is not an open stream (${valueAt(error, 'message')}); ` +
        'start the runtime with exec, without a program in between that closes descriptors, or set ASYA_RUNTIME_URL to a socket such as asya:/tmp/sockets/app.sock',
      { cause: error },
    );
  }
}
