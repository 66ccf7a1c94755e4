import type { Socket } from 'node:net';
import { answerCall } from '../handler/call-handler.ts';
import { infoFromHead } from '../handler/call-info.ts';
import type { Call } from '../handler/context.ts';
import { decodeRequest } from '../json.ts';
import { encodeFrames } from './frames.ts';
import { errorReply, type HandlerHost } from './handler-host.ts';
import { progressWriter } from './progress-writer.ts';
import { write } from './write.ts';

export interface CallRequest {
  /** The parsed head of the call. Throws if it is not JSON. */
  readonly readHead: () => unknown;
  /** Throws if the body cannot be used. */
  readonly readBody: () => Buffer;
  readonly socket: Socket;
  readonly host: HandlerHost;
  /** Marks a head of the answer with the call that it belongs to. Default: the connection has one call at a time. */
  readonly tag?: (head: string) => string;
  /** Whether the sidecar still wants the values of a generator. Default: it does, as long as it is connected. */
  readonly isWanted?: () => boolean;
  /** Called with the call when it begins, and with undefined when it has ended. */
  readonly onCall?: (call: Call | undefined) => void;
}

/** Makes one call of the `asya:` protocol, and answers with pairs. Never rejects. */
export async function serveCall({
  readHead,
  readBody,
  socket,
  host,
  tag = (head) => head,
  isWanted = () => true,
  onCall = () => {},
}: CallRequest): Promise<void> {
  let isOver = false;
  const progress = progressWriter(socket, tag);
  const send = (head: string, text: string): Promise<void> | undefined => {
    progress.flush();
    return write(socket, encodeFrames(tag(head), text));
  };
  const end = (head: string, text: string): Promise<void> | undefined => {
    isOver = true;
    return send(head, text);
  };
  try {
    const info = infoFromHead(readHead());
    const payload = decodeRequest(readBody());
    const channel = {
      sendProgress: (update: object, data: string) => {
        // What a handler left running must not write into the next answer.
        if (!isOver) progress.send(update, data);
      },
    };
    await host.withCall(info, channel, async (call) => {
      onCall(call);
      const last = await answerCall(host.handler, payload, call, async (item) => {
        if (socket.destroyed || !isWanted()) return false;
        await send(item.head, item.body);
        return true;
      });
      await end(last.head, last.body);
    });
  } catch (error) {
    await end('{"kind":"error"}', errorReply(error).text);
  } finally {
    onCall(undefined);
  }
}
