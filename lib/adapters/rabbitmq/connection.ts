import { setTimeout as sleep } from 'node:timers/promises';
import { type Channel, type ChannelModel, type ConfirmChannel, connect, type SocketOptions } from 'amqplib';
import { brokerAddress } from './broker-address.ts';

/** A connection to the broker, made when it is needed and made again when it was lost. */
export interface Connection {
  /** Rejects where none can be had now. Too soon after a failure it waits before it tries. */
  channel(): Promise<Channel>;
  confirmChannel(): Promise<ConfirmChannel>;
  /** Why the broker takes no messages on it for now. */
  readonly blockedBecause: string | undefined;
  /** Ends it, within seconds whatever the broker does. */
  close(): Promise<void>;
}

export interface ConnectionOptions {
  readonly url: string;
  /** What operators see in the broker's list of connections. */
  readonly name: string;
}

interface OpenConnection {
  readonly model: ChannelModel;
  blockedBecause: string | undefined;
  destroy(): void;
}

const CONNECT_WITHIN_MS = 5_000;
const CLOSE_WITHIN_MS = 2_000;
const FIRST_PAUSE_MS = 100;
const MAX_PAUSE_MS = 5_000;
/** Lost sooner, it counts as a failure: otherwise a broker that drops everybody would be asked without a pause. */
const STEADY_AFTER_MS = 5_000;

export function connectionTo({ url, name }: ConnectionOptions): Connection {
  const address = brokerAddress(url);
  const closing = new AbortController();
  let current: Promise<OpenConnection> | undefined;
  let connected: OpenConnection | undefined;
  let failures = 0;
  let notBefore = 0;

  function onFailure(): void {
    // Not all sidecars at once, when a broker is back.
    const pauseMs = Math.min(FIRST_PAUSE_MS * 2 ** failures, MAX_PAUSE_MS) * (0.75 + Math.random() / 2);
    failures++;
    notBefore = Date.now() + pauseMs;
  }

  async function make(): Promise<OpenConnection> {
    await sleep(Math.max(0, notBefore - Date.now()), undefined, { signal: closing.signal }).catch(() => {});
    if (closing.signal.aborted) throw new Error('the transport is closed');
    // The library only ever ends a socket in order, to which one that is half open never comes.
    const destruction = new AbortController();
    const destroy = () => destruction.abort();
    closing.signal.addEventListener('abort', destroy, { once: true });
    const options: SocketOptions & { signal: AbortSignal } = {
      timeout: CONNECT_WITHIN_MS,
      noDelay: true,
      signal: destruction.signal,
      clientProperties: { connection_name: name },
      ...address.credentials,
    };
    try {
      return watched({ model: await connect(address.url, options), blockedBecause: undefined, destroy });
    } catch (error) {
      current = undefined;
      onFailure();
      throw address.problemWith(error);
    } finally {
      closing.signal.removeEventListener('abort', destroy);
    }
  }

  function watched(made: OpenConnection): OpenConnection {
    const { model } = made;
    const openedAt = Date.now();
    connected = made;
    // Told once more as the connection's end.
    model.on('error', () => {});
    model.on('blocked', (reason) => {
      made.blockedBecause = reason;
    });
    model.on('unblocked', () => {
      made.blockedBecause = undefined;
    });
    model.on('close', () => {
      if (Date.now() - openedAt < STEADY_AFTER_MS) onFailure();
      else failures = 0;
      giveUp(made);
    });
    return made;
  }

  function giveUp(lost: OpenConnection): void {
    lost.destroy();
    if (connected !== lost) return;
    connected = undefined;
    current = undefined;
  }

  /** A connection on which no channel can be opened is none. */
  async function opened<T extends Channel>(open: (model: ChannelModel) => Promise<T>): Promise<T> {
    current ??= make();
    const made = await current;
    try {
      const channel = await open(made.model);
      // Whoever asked for what ends a channel is told by their own promise.
      channel.on('error', () => {});
      return channel;
    } catch (error) {
      giveUp(made);
      throw error;
    }
  }

  return {
    channel: () => opened((model) => model.createChannel()),
    confirmChannel: () => opened((model) => model.createConfirmChannel()),
    get blockedBecause() {
      return connected?.blockedBecause;
    },
    close: async () => {
      closing.abort();
      await current?.catch(() => {});
      if (connected === undefined) return;
      const { model, destroy } = connected;
      const patience = new AbortController();
      await Promise.race([
        new Promise<void>((resolve) => model.once('close', () => resolve())),
        model.close().catch(() => {}),
        sleep(CLOSE_WITHIN_MS, undefined, { signal: patience.signal }).catch(() => {}),
      ]);
      patience.abort();
      destroy();
    },
  };
}

/** A channel for one piece of work: a question that the broker refuses costs the channel it was asked on. */
export async function onChannel<T>(link: Connection, work: (channel: Channel) => Promise<T>): Promise<T> {
  const channel = await link.channel();
  try {
    return await work(channel);
  } finally {
    endChannel(channel);
  }
}

/** Not waited for: the library never answers where the connection is lost meanwhile. */
export function endChannel(channel: Channel): void {
  channel.close().catch(() => {});
}
