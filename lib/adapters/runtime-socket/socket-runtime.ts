import { startTimer } from '../../async/timer.ts';
import { answerFromSocket, type FanOut } from '../../core/delivery/answer.ts';
import { answerFromFrames } from '../../core/delivery/answer-envelope.ts';
import type { CallResult } from '../../core/delivery/outcome.ts';
import { encode } from '../../core/envelope/encode.ts';
import { textFromUtf8 } from '../../core/text/utf8.ts';
import type { Runtime, RuntimeRequest } from '../../ports/runtime.ts';
import { AnswerTooLarge, type FramedConnection, openConnection } from './framed-connection.ts';

export interface SocketRuntimeOptions {
  readonly path: string;
  readonly protocol: 'payload' | 'envelope';
  readonly fanOut: FanOut;
  readonly maxAnswerBytes: number;
}

interface CallState {
  connection?: FramedConnection;
  isOver: boolean;
}

/** A runtime behind a Unix socket. Connections are kept and reused, one call at a time on each. */
export function socketRuntime(options: SocketRuntimeOptions): Runtime {
  const idle: FramedConnection[] = [];
  const inFlight = new Set<(end: CallResult) => void>();

  async function exchange(text: string, state: CallState): Promise<Buffer> {
    const kept = takeIdle(idle);
    if (kept !== undefined) {
      try {
        return await exchangeOver(kept, text, state);
      } catch (error) {
        // The runtime has closed the idle connection, so it did not read the request.
        if (state.isOver || !isUnread(error)) throw error;
      }
    }
    const fresh = await openConnection(options.path, options.maxAnswerBytes);
    if (state.isOver) {
      idle.push(fresh);
      throw new Error('the call ended before the connection was established');
    }
    return exchangeOver(fresh, text, state);
  }

  async function exchangeOver(connection: FramedConnection, text: string, state: CallState): Promise<Buffer> {
    state.connection = connection;
    const answer = await connection.exchange(text);
    idle.push(connection);
    return answer;
  }

  return {
    restartsItself: false,
    call: (request) =>
      new Promise((resolve) => {
        const state: CallState = { isOver: false };
        const finish = (end: CallResult) => {
          if (!inFlight.delete(finish)) return;
          state.isOver = true;
          cancelTimer();
          if (end.kind === 'timeout' || end.kind === 'interrupted') state.connection?.destroy();
          resolve(end);
        };
        inFlight.add(finish);
        const cancelTimer = startTimer(request.timeoutMs, () => finish({ kind: 'timeout' }));
        exchange(requestText(request, options), state).then(
          (answer) => finish(readAnswer(answer, request, options)),
          (error: Error) => finish(endFrom(error, options.path)),
        );
      }),
    interrupt: () => {
      for (const finish of [...inFlight]) finish({ kind: 'interrupted' });
      for (const connection of idle.splice(0)) connection.destroy();
    },
    problem: async () => {
      try {
        idle.push(takeIdle(idle) ?? (await openConnection(options.path, options.maxAnswerBytes)));
        return undefined;
      } catch (error) {
        return unreachableDetail(error as Error, options.path);
      }
    },
    close: async () => {
      for (const connection of idle.splice(0)) connection.destroy();
    },
  };
}

function takeIdle(idle: FramedConnection[]): FramedConnection | undefined {
  for (let connection = idle.pop(); connection !== undefined; connection = idle.pop()) {
    if (connection.isOpen) return connection;
  }
  return undefined;
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

function endFrom(error: Error, path: string): CallResult {
  if (error instanceof AnswerTooLarge) return { kind: 'too-large', detail: error.message };
  const detail = unreachableDetail(error, path);
  return isUnread(error) || isUnconnected(error)
    ? { kind: 'unreachable', detail, isUnsent: true }
    : { kind: 'unreachable', detail };
}

/** The runtime did not read the request. After a regular close, in contrast, it may have read and processed it. */
function isUnread(error: unknown): boolean {
  return ['EPIPE', 'ECONNRESET'].includes(codeOf(error));
}

function isUnconnected(error: unknown): boolean {
  return ['ENOENT', 'ECONNREFUSED'].includes(codeOf(error));
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : '';
}

function unreachableDetail(error: Error, path: string): string {
  return `${error.message} (the runtime's socket is ${path})`;
}
