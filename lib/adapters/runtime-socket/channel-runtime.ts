import { realTimeouts, type Timeouts } from '../../async/timeouts.ts';
import type { Runtime } from '../../ports/runtime.ts';
import type { AnswerOptions } from './answer-reader.ts';
import { type Channel, openChannel } from './channel.ts';
import type { ChannelStreams } from './channel-streams.ts';
import { lookAhead } from './look-ahead.ts';

export interface ChannelRuntimeOptions extends AnswerOptions {
  readonly actor: string;
  /** How many calls a process runs at the same time. */
  readonly concurrency: number;
  /** Default: the real time. */
  readonly timeouts?: Timeouts;
  readonly now: () => number;
}

/** Calls whichever process it is attached to, over descriptors that the process inherited. */
export interface ChannelRuntime extends Runtime {
  /**
   * Calls go to this process from now on.
   * @param onReady The process has loaded its handler.
   * @param onLost It gets no more calls. `problem` is set if it sent something that cannot be read, which may be found
   * after a first notice without a problem.
   * @returns A function that ends the calls that are left. Call it when nothing more can arrive.
   */
  attach(
    streams: ChannelStreams,
    onReady: () => void,
    onLost: (problem: string | undefined) => void,
  ): () => void;
  /** The process is about to be killed: its running calls end as `interrupted`, and the others as not started. */
  abandon(): void;
  /** The handler's process has printed a line during a call. */
  printed(): void;
}

/**
 * So many processes in a row may end before they read a call, without one that has answered a call. Later ones fail it:
 * otherwise the calls of a runtime that always ends as soon as it is ready would be repeated forever.
 */
const MAX_UNREAD = 3;

export function channelRuntime(options: ChannelRuntimeOptions): ChannelRuntime {
  const { concurrency, timeouts = realTimeouts } = options;
  const ahead = lookAhead();
  let unread = 0;
  let channel: Channel | undefined;
  return {
    restartsItself: false,
    attach: (streams, onReady, onLost) => {
      const onEnded = (callMs: number) => {
        unread = 0;
        ahead.ended(callMs);
      };
      const onUnread = () => ++unread <= MAX_UNREAD;
      const opened = openChannel(streams, { ...options, timeouts, onReady, onLost, onEnded, onUnread });
      channel = opened;
      return opened.end;
    },
    call: async (request) =>
      (await channel?.call(request)) ?? { kind: 'unreachable', detail: NOT_READY, isUnsent: true },
    capacity: () => concurrency + ahead.count,
    printed: ahead.printed,
    cancel: () => channel?.cancel(),
    interrupt: () => channel?.interrupt(),
    abandon: () => channel?.abandon(),
    problem: async () => (channel?.isReady ? undefined : NOT_READY),
    close: async () => channel?.abandon(),
  };
}

const NOT_READY = 'the runtime is not ready';
