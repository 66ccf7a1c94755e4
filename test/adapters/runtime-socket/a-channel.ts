import { duplexPair } from 'node:stream';
import { type Channel, openChannel } from '../../../lib/adapters/runtime-socket/channel.ts';
import { pairReader } from '../../../lib/adapters/runtime-socket/pair-reader.ts';
import { realTimeouts, type Timeouts } from '../../../lib/async/timeouts.ts';
import type { CallResult } from '../../../lib/core/delivery/outcome.ts';
import type { RuntimeRequest } from '../../../lib/ports/runtime.ts';
import { requestWith } from './a-request.ts';
import { frameOf } from './frame-server.ts';

/** A channel, and the ends of its process, for which the test writes every pair. */

interface ReceivedPair {
  readonly head: Readonly<Record<string, unknown>>;
  readonly body: string;
}

export interface ChannelFixture {
  readonly channel: Channel;
  /** What the process received so far. */
  readonly received: readonly ReceivedPair[];
  /** Resolves when the process has received this many pairs. */
  untilReceived(count: number): Promise<void>;
  /** Writes pairs as the process does. */
  answer(...pairs: readonly (readonly [head: object | string, body: string])[]): void;
  write(bytes: Buffer): void;
  /** Ends the streams as an exit of the process does. */
  exit(): void;
  /** The next thing that the channel notices is that its last write failed. */
  failWrite(): void;
  endAnswers(): void;
  /** Why the channel was lost, for each loss. */
  readonly losses: readonly (string | undefined)[];
  /** Resolves with the first loss. */
  readonly untilLost: Promise<void>;
  /** How long each call took that has ended. */
  readonly durations: readonly number[];
  /** The clock of the channel. */
  now: number;
  /** Ends the timeout of the call that started last. */
  expireLast(): void;
}

interface Options {
  readonly concurrency?: number;
  readonly maxAnswerBytes?: number;
  /** The head with which the process is ready. */
  readonly ready?: object;
}

export async function channelFixture(options: Options = {}): Promise<ChannelFixture> {
  const [calls, incoming] = duplexPair({ allowHalfOpen: false });
  const [answers, outgoing] = duplexPair({ allowHalfOpen: false });
  const received: ReceivedPair[] = [];
  const losses: (string | undefined)[] = [];
  const durations: number[] = [];
  const timers: (() => void)[] = [];
  const waiting = new Set<() => void>();
  const changed = () => {
    for (const look of [...waiting]) look();
  };
  const read = pairReader(100_000_000, (head, body) => {
    received.push({ head: JSON.parse(head.toString()), body: String(body) });
    changed();
  });
  incoming.on('data', (chunk: Buffer) => void read(chunk));
  outgoing.resume();
  const timeouts: Timeouts = {
    ...realTimeouts,
    start: (_milliseconds, onDue) => {
      timers.push(onDue);
      return () => {};
    },
  };
  const lost = Promise.withResolvers<void>();
  const fixture = {
    received,
    losses,
    untilLost: lost.promise,
    durations,
    now: 1_000,
    untilReceived: (count: number) =>
      new Promise<void>((resolve) => {
        const look = () => {
          if (received.length < count) return;
          waiting.delete(look);
          resolve();
        };
        waiting.add(look);
        look();
      }),
    answer: (...pairs: readonly (readonly [object | string, string])[]) => {
      const frames = pairs.flatMap(([head, body]) => [
        frameOf(typeof head === 'string' ? head : JSON.stringify(head)),
        frameOf(body),
      ]);
      outgoing.write(Buffer.concat(frames));
    },
    write: (bytes: Buffer) => void outgoing.write(bytes),
    exit: () => {
      incoming.end();
      outgoing.end();
    },
    failWrite: () => void calls.destroy(Object.assign(new Error('write EPIPE'), { code: 'EPIPE' })),
    endAnswers: () => void outgoing.end(),
    expireLast: () => timers.at(-1)?.(),
  };
  const ready = Promise.withResolvers<void>();
  const channel = openChannel(
    { calls, answers },
    {
      actor: 'score',
      fanOut: 'array',
      maxAnswerBytes: options.maxAnswerBytes ?? 1_000,
      concurrency: options.concurrency ?? 1,
      timeouts,
      now: () => fixture.now,
      onReady: ready.resolve,
      onEnded: (callMs) => durations.push(callMs),
      onUnread: () => true,
      onLost: (problem) => {
        losses.push(problem);
        lost.resolve();
      },
    },
  );
  fixture.answer([options.ready ?? { kind: 'ready' }, '']);
  await ready.promise;
  return Object.assign(fixture, { channel });
}

/** A call that may be sent ahead. */
export function aheadWith(payload: unknown, startByMs: number, more: Partial<RuntimeRequest> = {}) {
  return { ...requestWith(payload), startByMs, ...more };
}

/** The answer of a call with one value. */
export function ending(call: number, value: unknown): readonly [object, string] {
  return [{ kind: 'end', call }, JSON.stringify(value)];
}

export const UNSTARTED: CallResult = { kind: 'interrupted', isUnstarted: true };
