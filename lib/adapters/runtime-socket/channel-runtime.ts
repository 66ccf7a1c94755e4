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

export function channelRuntime(options: ChannelRuntimeOptions): ChannelRuntime {
  const { concurrency, timeouts = realTimeouts } = options;
  const ahead = lookAhead();
  let channel: Channel | undefined;
  return {
    restartsItself: false,
    attach: (streams, onReady, onLost) => {
      const opened = openChannel(streams, { ...options, timeouts, onReady, onLost, onEnded: ahead.ended });
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
