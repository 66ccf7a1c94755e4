import { afterReads } from '../../async/after-reads.ts';
import { realTimeouts } from '../../async/timeouts.ts';
import type { CallResult } from '../../core/delivery/outcome.ts';
import { AnswerTooLarge } from './frame-reader.ts';
import { ConnectionClosed, type FramedConnection, openConnection } from './framed-connection.ts';

interface SocketCall {
  readonly request: Buffer;
  readonly timeoutMs: number;
  /** Reads a frame of the answer. Returns the result when the answer is complete. */
  readonly read: (frame: Buffer) => CallResult | undefined;
}

/** Calls over a Unix socket. Connections are kept and reused, one call at a time on each. */
export interface SocketCalls {
  call(call: SocketCall): Promise<CallResult>;
  /** Sends bytes to the runtime on the connection of each call in flight. */
  writeToAll(bytes: Buffer): void;
  interrupt(): void;
  problem(): Promise<string | undefined>;
  close(): Promise<void>;
}

interface CallState {
  connection?: FramedConnection;
  hasAnswered: boolean;
  isOver: boolean;
  readonly finish: (end: CallResult) => void;
}

export function socketCalls(path: string, maxFrameBytes: number, timeouts = realTimeouts): SocketCalls {
  const idle: FramedConnection[] = [];
  const inFlight = new Set<CallState>();

  async function exchange(call: SocketCall, state: CallState): Promise<CallResult> {
    const kept = takeIdle(idle);
    if (kept !== undefined) {
      try {
        return await exchangeOver(kept, call, state);
      } catch (error) {
        // The runtime has closed the idle connection, so it did not read the request.
        if (state.isOver || !isUnread(error, state)) throw error;
      }
    }
    const fresh = await openConnection(path, maxFrameBytes);
    if (state.isOver) {
      idle.push(fresh);
      throw new Error('the call ended before the connection was established');
    }
    return exchangeOver(fresh, call, state);
  }

  async function exchangeOver(
    connection: FramedConnection,
    { request, read }: SocketCall,
    state: CallState,
  ): Promise<CallResult> {
    state.connection = connection;
    let result: CallResult | undefined;
    let isBroken = false;
    try {
      await connection.exchange(request, (frame) => {
        state.hasAnswered = true;
        result = read(frame);
        isBroken = result?.kind === 'too-large' || result?.kind === 'unreachable';
        // The rest of this answer must not be read as the answer of the next call.
        if (isBroken) connection.destroy();
        return result !== undefined;
      });
    } catch (error) {
      if (!isBroken) throw error;
    }
    if (connection.isOpen) idle.push(connection);
    return result as CallResult;
  }

  return {
    call: (call) =>
      new Promise((resolve) => {
        const finish = (end: CallResult) => {
          if (!inFlight.delete(state)) return;
          state.isOver = true;
          cancelTimer();
          if (end.kind === 'timeout' || end.kind === 'interrupted') state.connection?.destroy();
          resolve(end);
        };
        const state: CallState = { isOver: false, hasAnswered: false, finish };
        inFlight.add(state);
        const expire = () => finish({ kind: 'timeout' });
        const expireSent = afterReads(expire);
        // Without a connection there is nothing to read, and the request must not be sent any more.
        const onDue = () => (state.connection === undefined ? expire() : expireSent());
        const cancelTimer = timeouts.start(call.timeoutMs, onDue);
        exchange(call, state).then(finish, (error: Error) => finish(endFrom(error, path, state)));
      }),
    writeToAll: (bytes) => {
      for (const { connection } of inFlight) connection?.write(bytes);
    },
    interrupt: () => {
      for (const { finish } of [...inFlight]) finish({ kind: 'interrupted' });
      for (const connection of idle.splice(0)) connection.destroy();
    },
    problem: async () => {
      try {
        idle.push(takeIdle(idle) ?? (await openConnection(path, maxFrameBytes)));
        return undefined;
      } catch (error) {
        return unreachableDetail(error as Error, path);
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

function endFrom(error: Error, path: string, state: CallState): CallResult {
  if (error instanceof AnswerTooLarge) return { kind: 'too-large', detail: error.message };
  const detail = unreachableDetail(error, path);
  if (isUnread(error, state) || isUnconnected(error)) return { kind: 'unreachable', detail, isUnsent: true };
  return isClosed(error) ? { kind: 'unreachable', detail, isLost: true } : { kind: 'unreachable', detail };
}

/** The runtime did not read the request. After a regular close, in contrast, it may have read and processed it. */
function isUnread(error: unknown, { hasAnswered }: CallState): boolean {
  return !hasAnswered && isReset(error);
}

function isClosed(error: Error): boolean {
  return error instanceof ConnectionClosed || isReset(error);
}

function isReset(error: unknown): boolean {
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
