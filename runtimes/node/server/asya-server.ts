import { createServer, type Server, type Socket } from 'node:net';
import { answerCall } from '../handler/call-handler.ts';
import { infoFromHead } from '../handler/call-info.ts';
import type { Call } from '../handler/context.ts';
import { decodeRequest } from '../json.ts';
import { encodeFrames, onFrames } from './frames.ts';
import { errorReply, type HandlerHost } from './handler-host.ts';
import { progressWriter } from './progress-writer.ts';
import { serveCalls, write } from './socket-server.ts';

/**
 * The `asya:` protocol: frames in pairs of a JSON head and a body. The head of a call carries the context, its body is
 * the payload. Each yielded value is answered as an `item` at once, and `end` or `error` ends the call.
 */
export function createAsyaServer(host: HandlerHost): Server {
  return createServer({ allowHalfOpen: true }, (socket) => serveConnection(socket, host));
}

function serveConnection(socket: Socket, host: HandlerHost): void {
  let head: Buffer | undefined;
  let current: Call | undefined;
  /** A cancel may arrive together with its call, before the call has begun. */
  let waiting = 0;
  let isCancelDue = false;
  serveCalls(socket, host, (calls) => {
    const onFrame = (frame: Buffer): void => {
      if (head === undefined) {
        head = frame;
        return;
      }
      const request = { head, body: frame };
      head = undefined;
      if (isCancel(request.head)) {
        current?.cancel();
        isCancelDue = current === undefined && waiting > 0;
        return;
      }
      waiting += 1;
      calls.call(() => {
        waiting -= 1;
        return serveCall(request, socket, host, (call) => {
          current = call;
          if (isCancelDue) call?.cancel();
          isCancelDue = false;
        });
      });
    };
    onFrames(socket, host.settings.maxRequestBytes, onFrame, calls.end);
  });
}

interface Request {
  readonly head: Buffer;
  readonly body: Buffer;
}

/** Recognized by its bytes: the head of a call is long, and parsed once. */
const CANCEL = Buffer.from('{"kind":"cancel"');

function isCancel(head: Buffer): boolean {
  return head.subarray(0, CANCEL.length).equals(CANCEL);
}

async function serveCall(
  { head, body }: Request,
  socket: Socket,
  host: HandlerHost,
  onCall: (call: Call | undefined) => void,
): Promise<void> {
  let isOver = false;
  const progress = progressWriter(socket);
  const end = (bytes: Buffer): Promise<void> => {
    isOver = true;
    progress.flush();
    return write(socket, bytes);
  };
  try {
    const info = infoFromHead(decodeRequest(head));
    const payload = decodeRequest(body);
    const channel = {
      sendProgress: (update: object, data: string) => {
        // What a handler left running must not write into the next answer.
        if (!isOver) progress.send(update, data);
      },
    };
    await host.withCall(info, channel, async (call) => {
      onCall(call);
      const last = await answerCall(host.handler, payload, call, async (item) => {
        if (socket.destroyed) return false;
        progress.flush();
        await write(socket, encodeFrames(item.head, item.body));
        return true;
      });
      await end(encodeFrames(last.head, last.body));
    });
  } catch (error) {
    await end(encodeFrames('{"kind":"error"}', errorReply(error).text));
  } finally {
    onCall(undefined);
  }
}
