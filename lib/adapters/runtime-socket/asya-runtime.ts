import { realTimeouts, type Timeouts } from '../../async/timeouts.ts';
import { callHead } from '../../core/delivery/call-head.ts';
import type { CallResult } from '../../core/delivery/outcome.ts';
import { textFromUtf8 } from '../../core/text/utf8.ts';
import type { Runtime, RuntimeRequest } from '../../ports/runtime.ts';
import { type AnswerOptions, answerReader, maxFrameBytes, NOT_UTF8 } from './answer-reader.ts';
import { encodeFrames } from './frame-reader.ts';
import { socketCalls } from './socket-calls.ts';

export interface AsyaRuntimeOptions extends AnswerOptions {
  readonly path: string;
  readonly actor: string;
  /** How long to wait for an answer, if the call's time is virtual. Default: the timeout of the call. */
  readonly answerWithinMs?: number;
  /** Default: the real time. */
  readonly timeouts?: Timeouts;
}

const CANCEL = encodeFrames('{"kind":"cancel","reason":"drain"}', '');

/** A bundled runtime behind a Unix socket (`asya:`): heads carry the context, and items arrive as they are yielded. */
export function asyaRuntime(options: AsyaRuntimeOptions): Runtime {
  const { timeouts = realTimeouts } = options;
  const calls = socketCalls(options.path, maxFrameBytes(options), timeouts);
  /** The calls that were asked to end early. */
  const canceled = new WeakSet<object>();
  const inFlight = new Set<object>();
  return {
    restartsItself: false,
    call: async (request) => {
      const { envelope, timeoutMs } = request;
      const head = callHead(envelope, options.actor, timeouts.forHandler(timeoutMs));
      inFlight.add(request);
      const end = await calls.call({
        request: encodeFrames(head, envelope.payload),
        timeoutMs: options.answerWithinMs ?? timeoutMs,
        read: readFrames(request, options),
      });
      inFlight.delete(request);
      // A handler that fails because it was asked to end early has not failed: the envelope is sent again.
      const hasFailed = end.kind === 'fault' || end.kind === 'unreachable';
      return hasFailed && canceled.has(request) ? { kind: 'interrupted' } : end;
    },
    cancel: () => {
      for (const call of inFlight) canceled.add(call);
      calls.writeToAll(CANCEL);
    },
    interrupt: calls.interrupt,
    problem: calls.problem,
    close: calls.close,
  };
}

/** Reads the frames of one answer, which alternate between head and body. */
function readFrames(
  request: RuntimeRequest,
  options: AnswerOptions,
): (frame: Buffer) => CallResult | undefined {
  const readPair = answerReader(request, options);
  let head: string | undefined;
  return (frame) => {
    if (head !== undefined) {
      const read = head;
      head = undefined;
      return readPair(read, frame);
    }
    head = textFromUtf8(frame);
    return head === undefined ? { kind: 'unreachable', detail: NOT_UTF8 } : undefined;
  };
}
