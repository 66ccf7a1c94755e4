import { createServer, type Server, type Socket } from 'node:net';
import type { Call } from '../handler/context.ts';
import { decodeRequest } from '../json.ts';
import { onFrames } from './frames.ts';
import type { HandlerHost } from './handler-host.ts';
import { serveCall } from './serve-call.ts';
import { serveCalls } from './socket-server.ts';

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
      const read = head;
      head = undefined;
      if (isCancel(read)) {
        current?.cancel();
        isCancelDue = current === undefined && waiting > 0;
        return;
      }
      waiting += 1;
      calls.call(() => {
        waiting -= 1;
        const onCall = (call: Call | undefined) => {
          current = call;
          if (isCancelDue) call?.cancel();
          isCancelDue = false;
        };
        return serveCall({
          readHead: () => decodeRequest(read),
          readBody: () => frame,
          socket,
          host,
          onCall,
        });
      });
    };
    onFrames(socket, host.settings.maxRequestBytes, onFrame, calls.end);
  });
}

/** Recognized by its bytes: the head of a call is long, and parsed once. */
const CANCEL = Buffer.from('{"kind":"cancel"');

function isCancel(head: Buffer): boolean {
  return head.subarray(0, CANCEL.length).equals(CANCEL);
}
