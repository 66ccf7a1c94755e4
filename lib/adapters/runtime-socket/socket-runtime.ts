import { answerFromSocket, type FanOut } from '../../core/delivery/answer.ts';
import { answerFromFrames } from '../../core/delivery/answer-envelope.ts';
import type { CallResult } from '../../core/delivery/outcome.ts';
import { encode } from '../../core/envelope/encode.ts';
import { textFromUtf8 } from '../../core/text/utf8.ts';
import type { Runtime, RuntimeRequest } from '../../ports/runtime.ts';
import { encodeFrames } from './frame-reader.ts';
import { socketCalls } from './socket-calls.ts';

export interface SocketRuntimeOptions {
  readonly path: string;
  readonly protocol: 'payload' | 'envelope';
  readonly fanOut: FanOut;
  readonly maxAnswerBytes: number;
}

/** A runtime behind a Unix socket that answers each frame with one frame (`unix:`). */
export function socketRuntime(options: SocketRuntimeOptions): Runtime {
  const { call, interrupt, problem, close } = socketCalls(options.path, options.maxAnswerBytes);
  return {
    restartsItself: false,
    call: (request) =>
      call({
        request: encodeFrames(requestText(request, options)),
        timeoutMs: request.timeoutMs,
        read: (frame) => readAnswer(frame, request, options),
      }),
    interrupt,
    problem,
    close,
  };
}

function requestText({ envelope }: RuntimeRequest, { protocol }: SocketRuntimeOptions): string {
  return protocol === 'payload' ? envelope.payload : encode(envelope);
}

function readAnswer(answer: Buffer, { envelope }: RuntimeRequest, options: SocketRuntimeOptions): CallResult {
  const text = textFromUtf8(answer);
  if (text === undefined) return { kind: 'unreachable', detail: "the runtime's answer is not UTF-8" };
  return options.protocol === 'payload'
    ? answerFromSocket(text, options.fanOut)
    : answerFromFrames(text, envelope.route);
}
