import type { FanOut, Frame } from '../../core/delivery/answer.ts';
import { answerFromParts, readAnswerPart } from '../../core/delivery/answer-asya.ts';
import type { CallResult } from '../../core/delivery/outcome.ts';
import { textFromUtf8 } from '../../core/text/utf8.ts';
import type { RuntimeRequest } from '../../ports/runtime.ts';
import { AnswerTooLarge } from './frame-reader.ts';
import type { Body } from './pair-reader.ts';

export interface AnswerOptions {
  readonly fanOut: FanOut;
  /** The limit for one answer: its values, and the heads of a generator's values. */
  readonly maxAnswerBytes: number;
}

/** A head is small; this leaves room for the handler's headers even if the limit for answers is tiny. */
const MIN_FRAME_BYTES = 1024 * 1024;

/** The largest frame that a runtime may send in one piece. */
export function maxFrameBytes({ maxAnswerBytes }: AnswerOptions): number {
  return Math.max(maxAnswerBytes, MIN_FRAME_BYTES);
}

export const NOT_UTF8 = "the runtime's answer is not UTF-8";

/** Reads the pairs of one answer. Returns the result as soon as it is certain. */
export function answerReader(
  { onProgress }: Pick<RuntimeRequest, 'onProgress'>,
  { fanOut, maxAnswerBytes }: AnswerOptions,
): (head: string, body: Body) => CallResult | undefined {
  const items: Frame[] = [];
  let bytes = 0;
  const tooLarge = (size: number): CallResult => ({
    kind: 'too-large',
    detail: new AnswerTooLarge(size, maxAnswerBytes).message,
  });
  return (head, body) => {
    if ('skippedBytes' in body) return tooLarge(bytes + body.skippedBytes);
    const text = textFromUtf8(body);
    if (text === undefined) return { kind: 'unreachable', detail: NOT_UTF8 };
    const part = readAnswerPart(head, text, fanOut);
    if (part.kind === 'progress') {
      onProgress?.(part.progress);
      return undefined;
    }
    const isError = part.kind === 'end' && part.answer.kind === 'fault';
    bytes += body.length + (part.kind === 'item' ? Buffer.byteLength(head) : 0);
    if (bytes > maxAnswerBytes && !isError) return tooLarge(bytes);
    if (part.kind === 'end') return answerFromParts(items, part.answer);
    items.push(part.frame);
    return undefined;
  };
}
