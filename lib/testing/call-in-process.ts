import { errorObjectFrom } from '../../runtimes/node/error-object.ts';
import { answerCall, type Pair } from '../../runtimes/node/handler/call-handler.ts';
import { infoFromHead } from '../../runtimes/node/handler/call-info.ts';
import { type CallChannel, startCall } from '../../runtimes/node/handler/context.ts';
import type { FanOut, Frame } from '../core/delivery/answer.ts';
import { type AnswerPart, answerFromParts, readAnswerPart } from '../core/delivery/answer-asya.ts';
import { callHead } from '../core/delivery/call-head.ts';
import type { CallResult } from '../core/delivery/outcome.ts';
import type { Context } from '../handler/index.ts';
import type { RuntimeRequest } from '../ports/runtime.ts';
import type { HandlerFunction } from './flow-options.ts';
import { withinRealTime } from './real-time.ts';

export interface InProcessOptions {
  readonly actor: string;
  readonly fanOut: FanOut;
  readonly realTimeoutMs: number;
  /** Aborts the context's signal when it aborts. */
  readonly cancel?: AbortSignal;
}

export interface InProcessCall {
  readonly result: CallResult;
  /** After the call, so with the changes of the handler. */
  readonly context: Context;
  /** What the handler threw, if it failed. */
  readonly thrown?: unknown;
}

/**
 * Calls a handler in this process as the Node runtime does: its context comes from the head that a sidecar would send,
 * and the sidecar's code reads the answer. Rejects only if the handler does not end in real time.
 */
export async function callInProcess(
  handler: HandlerFunction,
  { envelope, timeoutMs, onProgress }: RuntimeRequest,
  { actor, fanOut, realTimeoutMs, cancel }: InProcessOptions,
): Promise<InProcessCall> {
  const read = ({ head, body }: Pair): AnswerPart => readAnswerPart(head, body, fanOut);
  const channel: CallChannel = {
    sendProgress: (update, body) => {
      const part = read({ head: JSON.stringify({ kind: 'progress', ...update }), body });
      if (part.kind === 'progress') onProgress?.(part.progress);
    },
  };
  const call = startCall(infoFromHead(JSON.parse(callHead(envelope, actor, timeoutMs))), channel);
  const { context } = call;
  if (cancel?.aborted) call.cancel();
  cancel?.addEventListener('abort', call.cancel);
  const items: Frame[] = [];
  const addItem = async (item: Pair): Promise<boolean> => {
    const part = read(item);
    if (part.kind === 'item') items.push(part.frame);
    return true;
  };
  try {
    const answer = answerOrError(handler, JSON.parse(envelope.payload), call, addItem);
    const { pair, thrown } = await withinRealTime(answer, realTimeoutMs, `the handler of "${actor}"`);
    const end = read(pair);
    const result = end.kind === 'end' ? answerFromParts(items, end.answer) : UNREADABLE;
    return { result, context, ...(result.kind === 'fault' && { thrown }) };
  } catch (late) {
    // The handler still runs and may stop then.
    call.cancel();
    throw late;
  } finally {
    cancel?.removeEventListener('abort', call.cancel);
    call.end();
  }
}

const UNREADABLE: CallResult = { kind: 'unreachable', detail: 'the last part of an answer is not its end' };

async function answerOrError(
  handler: HandlerFunction,
  payload: unknown,
  call: ReturnType<typeof startCall>,
  addItem: (item: Pair) => Promise<boolean>,
): Promise<{ readonly pair: Pair; readonly thrown?: unknown }> {
  try {
    return { pair: await answerCall(handler as never, payload, call, addItem) };
  } catch (thrown) {
    return { pair: { head: '{"kind":"error"}', body: JSON.stringify(errorObjectFrom(thrown)) }, thrown };
  }
}
