import { Socket } from 'node:net';
import { BadRequest } from '../bad-request.ts';
import { decodeRequest } from '../json.ts';
import type { Channel } from '../settings.ts';
import { StartupError } from '../startup-error.ts';
import { valueAt } from '../value-at.ts';
import { encodeFrames } from './frames.ts';
import { errorReply, type HandlerHost } from './handler-host.ts';
import { type Frame, type IncomingPair, pairReader } from './pair-reader.ts';
import { serveCall } from './serve-call.ts';

interface QueuedCall {
  readonly number: number;
  /** It must not start later, in milliseconds since 1970. */
  readonly startBy: unknown;
  readonly head: unknown;
  readonly body: Frame;
}

export interface ChannelServer {
  /** The calls that have not started will not start. */
  close(): void;
}

/**
 * Takes calls over descriptors that the process inherited from the sidecar, which sends them ahead. They start strictly
 * in order, at most `concurrency` at the same time. When a stream ends, the sidecar has ended, and so does this process.
 */
export function serveChannel(host: HandlerHost, { callsFd, answersFd, concurrency }: Channel): ChannelServer {
  const calls = openSocket('ASYA_RUNTIME_FD', callsFd, { readable: true, writable: false });
  const socket = openSocket('ASYA_RUNTIME_ANSWER_FD', answersFd, { readable: false, writable: true });
  const queue: QueuedCall[] = [];
  /** The numbers of the running calls, and of those whose answer is not wanted any more. */
  const running = new Set<number>();
  const unwanted = new Set<number>();

  function onPair({ head: frame, body }: IncomingPair): void {
    try {
      const head = decodeRequest(bytesOf(frame));
      const [kind, number] = [valueAt(head, 'kind'), valueAt(head, 'call')];
      if (kind === 'cancel') cancel();
      else if (!Number.isSafeInteger(number))
        throw new BadRequest('the head of a pair has no number in "call"');
      else if (kind === 'stop') stop(number as number);
      else {
        queue.push({ number: number as number, startBy: valueAt(head, 'start_by'), head, body });
        startNext();
      }
    } catch (error) {
      socket.write(encodeFrames('{"kind":"error"}', errorReply(error).text));
    }
  }

  function startNext(): void {
    while (running.size < concurrency) {
      const call = queue.shift();
      if (call === undefined) return;
      const isLate = typeof call.startBy === 'number' && Date.now() > call.startBy;
      if (isLate || !host.begin()) refuse(call);
      else void run(call);
    }
  }

  async function run({ number, head, body }: QueuedCall): Promise<void> {
    running.add(number);
    const tag = (text: string): string => `{"call":${number},${text.slice(1)}`;
    const isWanted = () => !unwanted.has(number);
    await serveCall({ readHead: () => head, readBody: () => bytesOf(body), socket, host, tag, isWanted });
    running.delete(number);
    unwanted.delete(number);
    host.finish();
    startNext();
  }

  function bytesOf(frame: Frame): Buffer {
    if (!('skippedBytes' in frame)) return frame;
    const limit = host.settings.maxRequestBytes;
    throw new BadRequest(
      `a frame of ${frame.skippedBytes} bytes is larger than ASYA_RUNTIME_MAX_REQUEST (${limit} bytes)`,
    );
  }

  function cancel(): void {
    host.cancel();
    refuseQueued();
  }

  function stop(number: number): void {
    if (running.has(number)) unwanted.add(number);
  }

  function refuse({ number }: QueuedCall): void {
    socket.write(encodeFrames(`{"kind":"late","call":${number}}`, ''));
  }

  function refuseQueued(): void {
    for (const call of queue.splice(0)) refuse(call);
  }

  calls.on('data', pairReader(host.settings.maxRequestBytes, onPair));
  for (const event of ['error', 'end', 'close']) calls.on(event, () => process.exit(0));
  for (const event of ['error', 'close']) socket.on(event, () => process.exit(0));
  socket.write(encodeFrames('{"kind":"ready","stop":true}', ''));
  return { close: refuseQueued };
}

function openSocket(
  variable: string,
  fd: number,
  use: { readonly readable: boolean; readonly writable: boolean },
): Socket {
  try {
    return new Socket({ fd, ...use });
  } catch (error) {
    throw new StartupError(
      `${variable} is "${fd}", but this descriptor is not a stream to the sidecar (${valueAt(error, 'message')}); ` +
        'a program between the sidecar and the runtime may have closed it: start the runtime directly, or set ASYA_RUNTIME_URL to a socket such as asya:/tmp/sockets/app.sock',
      { cause: error },
    );
  }
}
