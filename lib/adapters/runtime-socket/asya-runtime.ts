import { realTimeouts, type Timeouts } from '../../async/timeouts.ts';
import type { FanOut, Frame } from '../../core/delivery/answer.ts';
import { answerFromParts, readAnswerPart } from '../../core/delivery/answer-asya.ts';
import { callHead } from '../../core/delivery/call-head.ts';
import type { CallResult } from '../../core/delivery/outcome.ts';
import { textFromUtf8 } from '../../core/text/utf8.ts';
import type { Runtime, RuntimeRequest } from '../../ports/runtime.ts';
import { AnswerTooLarge, encodeFrames } from './frame-reader.ts';
import { socketCalls } from './socket-calls.ts';

export interface AsyaRuntimeOptions {
  readonly path: string;
  readonly actor: string;
  readonly fanOut: FanOut;
  /** The limit for one answer: its values, and the heads of a generator's values. */
  readonly maxAnswerBytes: number;
  /** How long to wait for an answer, if the call's time is virtual. Default: the timeout of the call. */
  readonly answerWithinMs?: number;
  /** Default: the real time. */
  readonly timeouts?: Timeouts;
}

const CANCEL = encodeFrames('{"kind":"cancel","reason":"drain"}', '');
/** A head is small; this leaves room for the handler's headers even if the limit for answers is tiny. */
const MIN_FRAME_BYTES = 1024 * 1024;

/** A bundled runtime behind a Unix socket (`asya:`): heads carry the context, and items arrive as they are yielded. */
export function asyaRuntime(options: AsyaRuntimeOptions): Runtime {
  const { timeouts = realTimeouts } = options;
  const calls = socketCalls(options.path, Math.max(options.maxAnswerBytes, MIN_FRAME_BYTES), timeouts);
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
        read: answerReader(request, options),
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
function answerReader(
  { onProgress }: RuntimeRequest,
  { fanOut, maxAnswerBytes }: AsyaRuntimeOptions,
): (frame: Buffer) => CallResult | undefined {
  const items: Frame[] = [];
  let bytes = 0;
  let head: string | undefined;
  return (frame) => {
    const text = textFromUtf8(frame);
    if (text === undefined) return { kind: 'unreachable', detail: "the runtime's answer is not UTF-8" };
    if (head === undefined) {
      head = text;
      return undefined;
    }
    const headBytes = Buffer.byteLength(head);
    const part = readAnswerPart(head, text, fanOut);
    head = undefined;
    if (part.kind === 'progress') {
      onProgress?.(part.progress);
      return undefined;
    }
    const isError = part.kind === 'end' && part.answer.kind === 'fault';
    bytes += frame.length + (part.kind === 'item' ? headBytes : 0);
    if (bytes > maxAnswerBytes && !isError)
      return { kind: 'too-large', detail: new AnswerTooLarge(bytes, maxAnswerBytes).message };
    if (part.kind === 'end') return answerFromParts(items, part.answer);
    items.push(part.frame);
    return undefined;
  };
}
