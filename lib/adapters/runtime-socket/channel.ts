import { afterReads } from '../../async/after-reads.ts';
import type { Timeouts } from '../../async/timeouts.ts';
import { mayStop, readPairSubject } from '../../core/delivery/answer-asya.ts';
import { callHead } from '../../core/delivery/call-head.ts';
import type { CallResult } from '../../core/delivery/outcome.ts';
import { textFromUtf8 } from '../../core/text/utf8.ts';
import type { RuntimeRequest } from '../../ports/runtime.ts';
import { type AnswerOptions, answerReader, maxFrameBytes } from './answer-reader.ts';
import { type CallTurns, callTurns, type Turn } from './call-turns.ts';
import { type ChannelStreams, followStreams } from './channel-streams.ts';
import { encodeFrames } from './frame-reader.ts';
import { type Body, pairReader } from './pair-reader.ts';

/** The streams to one process of a bundled runtime. They carry all calls of the process, several at a time. */
export interface Channel {
  /** Whether the process has loaded its handler. */
  readonly isReady: boolean;
  call(request: RuntimeRequest): Promise<CallResult>;
  /** Asks running calls to end early. Calls that are not running yet do not start. */
  cancel(): void;
  /** Ends every call as `interrupted`. */
  interrupt(): void;
  /** The process is about to be killed: ends running calls as `interrupted`, and the others as not started. */
  abandon(): void;
  /** The process has ended, and nothing more can arrive, even if a stream is still open. */
  end(): void;
}

export interface ChannelOptions extends AnswerOptions {
  readonly actor: string;
  /** How many calls the process runs at the same time. */
  readonly concurrency: number;
  readonly timeouts: Timeouts;
  readonly now: () => number;
  readonly onReady: () => void;
  /** A call has ended after this time. */
  readonly onEnded: (callMs: number) => void;
  /** The process ended before it read a call whose turn it was. Returns whether that call counts as not started. */
  readonly onUnread: () => boolean;
  /**
   * The process does not get further calls. `problem` is set if it sent something that cannot be read, which may be found after
   * a first notice without a problem.
   */
  readonly onLost: (problem: string | undefined) => void;
}

const CANCEL = encodeFrames('{"kind":"cancel","reason":"drain"}', '');
const STOP = (call: number) => encodeFrames(`{"kind":"stop","call":${call}}`, '');
const UNSTARTED: CallResult = { kind: 'interrupted', isUnstarted: true };
const INTERRUPTED: CallResult = { kind: 'interrupted' };
/** What a process sends about a call. */
const KINDS: readonly string[] = ['item', 'progress', 'end', 'error', 'late'];
const CLOSED = 'the runtime closed its connection before it answered';
const STRAY = 'it arrived on the stream for calls';

interface OpenCall extends Turn {
  readonly request: RuntimeRequest;
  readonly read: (head: string, body: Body) => CallResult | undefined;
  readonly resolve: (end: CallResult) => void;
  number?: number;
  /** Known before the runtime has ended the call, if the answer is too large or cannot be read. */
  result?: CallResult | undefined;
  startedAt?: number;
  /** Whether it could be written. Otherwise the process cannot run it. */
  isWritten?: boolean;
  isResolved?: boolean;
  isCanceled?: boolean;
  cancelTimer?: () => void;
}

/**
 * Opens the streams to a process. Calls are sent ahead of their turn, and the process starts them strictly in order. So it
 * is known here when a call starts: when one of those before it has ended. If the process ends, the calls in it are
 * settled after its last answers have been read.
 */
export function openChannel(pair: ChannelStreams, options: ChannelOptions): Channel {
  const { timeouts, now } = options;
  const turns: CallTurns<OpenCall> = callTurns(options.concurrency, { send, start, expire, now });
  const sent = new Map<number, OpenCall>();
  /** Whether the process can get calls. */
  let isOpen = true;
  /** Whether its answers are not read any more. */
  let isOver = false;
  let isReady = false;
  let canStop = false;
  let lastNumber = 0;
  /** The number of the call that was written last; undefined after anything else. */
  let lastWritten: number | undefined;

  function send(call: OpenCall, startByMs?: number): void {
    const { envelope, timeoutMs } = call.request;
    call.number = ++lastNumber;
    sent.set(call.number, call);
    lastWritten = call.number;
    const head = callHead(envelope, options.actor, timeouts.forHandler(timeoutMs));
    const limit = startByMs === undefined ? '' : `"start_by":${Math.floor(startByMs)},`;
    call.isWritten = streams.write(
      encodeFrames(`{"call":${call.number},${limit}${head.slice(1)}`, envelope.payload),
    );
  }

  function start(call: OpenCall, hasWaited: boolean): void {
    call.startedAt = now();
    if (call.isResolved) return;
    if (hasWaited) call.request.onStart?.();
    const onDue = afterReads(() => expireRunning(call));
    call.cancelTimer = timeouts.start(call.request.timeoutMs, onDue);
  }

  /** The process is stuck: none of the other calls will start. The caller kills it. */
  function expireRunning(call: OpenCall): void {
    if (call.isResolved) return;
    turns.stop();
    finish(call, { kind: 'timeout' });
  }

  function expire(call: OpenCall): void {
    call.resolve(call.isCanceled ? INTERRUPTED : UNSTARTED);
  }

  /** Resolves the call; the process may still work on it. */
  function resolve(call: OpenCall, end: CallResult): void {
    call.cancelTimer?.();
    call.isResolved = true;
    // A handler that fails because it was asked to end early has not failed: the envelope is sent again.
    const hasFailed = end.kind === 'fault' || end.kind === 'unreachable' || end === UNSTARTED;
    call.resolve(hasFailed && call.isCanceled ? INTERRUPTED : end);
  }

  /** The process is done with the call. */
  function finish(call: OpenCall, end: CallResult): void {
    if (call.number !== undefined) sent.delete(call.number);
    resolve(call, end);
    turns.ended(call);
  }

  function onPair(headBytes: Buffer, body: Body): void {
    if (isOver) return;
    const head = textFromUtf8(headBytes);
    const subject = head === undefined ? undefined : readPairSubject(head);
    if (head === undefined || subject === undefined) lose('a head is not valid');
    else if (subject.kind === 'ready') becomeReady(head);
    else if (subject.call === undefined) lose('a head names no call');
    else if (!KINDS.includes(subject.kind)) lose(`a head has the kind ${JSON.stringify(subject.kind)}`);
    else onAnswer(sent.get(subject.call), subject.kind, head, body);
  }

  /** @param call Undefined: the process knows calls that were interrupted here. */
  function onAnswer(call: OpenCall | undefined, kind: string, head: string, body: Body): void {
    if (call === undefined) return;
    const wasKnown = call.result !== undefined;
    call.result ??= kind === 'late' ? UNSTARTED : call.read(head, body);
    if (call.result === undefined) return;
    const hasEnded = kind === 'end' || kind === 'error';
    if (hasEnded && call.startedAt !== undefined) options.onEnded(now() - call.startedAt);
    if (hasEnded || kind === 'late') finish(call, call.result);
    else if (canStop && !wasKnown) write(STOP(call.number ?? 0));
  }

  function becomeReady(head: string): void {
    isReady = true;
    canStop = mayStop(head);
    options.onReady();
  }

  /** Writes something that is not a call. */
  function write(bytes: Buffer): void {
    if (!isOpen) return;
    lastWritten = undefined;
    streams.write(bytes);
  }

  function close(): OpenCall[] {
    isOpen = false;
    isOver = true;
    streams.destroy();
    sent.clear();
    return turns.stop();
  }

  /** A stream has ended. Which calls have started is known when all answers have been read. */
  function onEnding(): void {
    if (!isOpen) return;
    isOpen = false;
    turns.expireWaiting();
    options.onLost(undefined);
  }

  /** @param isUnread The process did not read what was written last. If that is its only call, it was not started. */
  function onEnd(isUnread: boolean): void {
    onEnding();
    settle(CLOSED, isUnread);
  }

  function lose(problem: string): void {
    if (isOver) return;
    settle(problem);
    options.onLost(problem);
  }

  function settle(detail: string, isUnread = false): void {
    if (isOver) return;
    const isOnlyUnread = isUnread && sent.size === 1 && lastWritten !== undefined && sent.has(lastWritten);
    const lost: CallResult = { kind: 'unreachable', detail, isLost: true };
    const calls = close();
    const unread = calls.filter(
      ({ startedAt, isWritten }) => startedAt !== undefined && (!isWritten || isOnlyUnread),
    );
    const isForgiven = unread.length > 0 && options.onUnread();
    for (const call of calls) {
      const isUnstarted = call.startedAt === undefined || (isForgiven && unread.includes(call));
      resolve(call, isUnstarted ? UNSTARTED : lost);
    }
  }

  const readPairs = pairReader(maxFrameBytes(options), onPair);
  const streams = followStreams(pair, {
    onAnswer: (chunk) => {
      const problem = isOver ? undefined : readPairs(chunk);
      if (problem !== undefined) lose(problem.message);
    },
    onStray: () => lose(STRAY),
    onEnding,
    onEnd,
  });

  return {
    get isReady() {
      return isReady && isOpen;
    },
    call: (request) =>
      new Promise((resolveCall) => {
        // The process is about to exit; the call is repeated with the next one.
        if (!isOpen) return resolveCall({ kind: 'unreachable', detail: CLOSED, isUnsent: true });
        const { startByMs } = request;
        turns.add({ request, startByMs, read: answerReader(request, options), resolve: resolveCall });
      }),
    cancel: () => {
      for (const call of turns.all()) call.isCanceled = true;
      turns.expireWaiting();
      write(CANCEL);
    },
    interrupt: () => {
      for (const call of turns.all()) resolve(call, INTERRUPTED);
      turns.expireWaiting();
      // Otherwise the process would still make the calls whose turn comes later.
      if (turns.all().some(({ startedAt }) => startedAt === undefined)) write(CANCEL);
    },
    abandon: () => {
      for (const call of close()) resolve(call, call.startedAt === undefined ? UNSTARTED : INTERRUPTED);
    },
    end: () => onEnd(false),
  };
}
