import { setTimeout as sleep } from 'node:timers/promises';
import { type Channel, type ChannelModel, type ConfirmChannel, connect, type SocketOptions } from 'amqplib';
import { brokerAddress } from './broker-address.ts';

/** A connection to the broker, opened on demand and reopened after a loss. */
export interface Connection {
  /** Opens a channel. Rejects if there is no connection. Soon after a failure it waits before it connects again. */
  channel(): Promise<Channel>;
  confirmChannel(): Promise<ConfirmChannel>;
  /** Why the broker currently accepts no messages, if so. */
  readonly blockedBecause: string | undefined;
  /** Closes the connection, within seconds even if the broker does not respond. */
  close(): Promise<void>;
}

export interface ConnectionOptions {
  readonly url: string;
  /** The name in the broker's list of connections. */
  readonly name: string;
}

interface OpenConnection {
  readonly model: ChannelModel;
  blockedBecause: string | undefined;
  destroy(): void;
}

const CONNECT_TIMEOUT_MS = 5_000;
const CLOSE_TIMEOUT_MS = 2_000;
const FIRST_PAUSE_MS = 100;
const MAX_PAUSE_MS = 5_000;
/** A connection that is lost sooner counts as a failure. Otherwise reconnects to a broker that drops them have no pause. */
const STABLE_AFTER_MS = 5_000;

export function connectionTo({ url, name }: ConnectionOptions): Connection {
  const address = brokerAddress(url);
  const closing = new AbortController();
  let current: Promise<OpenConnection> | undefined;
  let connected: OpenConnection | undefined;
  let failures = 0;
  let notBefore = 0;

  function onFailure(): void {
    // With jitter, so that not all sidecars reconnect at the same time.
    const pauseMs = Math.min(FIRST_PAUSE_MS * 2 ** failures, MAX_PAUSE_MS) * (0.75 + Math.random() / 2);
    failures++;
    notBefore = Date.now() + pauseMs;
  }

  async function open(): Promise<OpenConnection> {
    await sleep(Math.max(0, notBefore - Date.now()), undefined, { signal: closing.signal }).catch(() => {});
    if (closing.signal.aborted) throw new Error('the transport is closed');
    // The library closes a socket only after a handshake, which never completes on a half-open connection.
    const destruction = new AbortController();
    const destroy = () => destruction.abort();
    closing.signal.addEventListener('abort', destroy, { once: true });
    const options: SocketOptions & { signal: AbortSignal } = {
      timeout: CONNECT_TIMEOUT_MS,
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

  function watched(opened: OpenConnection): OpenConnection {
    const { model } = opened;
    const openedAt = Date.now();
    connected = opened;
    // 'close' follows.
    model.on('error', () => {});
    model.on('blocked', (reason) => {
      opened.blockedBecause = reason;
    });
    model.on('unblocked', () => {
      opened.blockedBecause = undefined;
    });
    model.on('close', () => {
      if (Date.now() - openedAt < STABLE_AFTER_MS) onFailure();
      else failures = 0;
      discard(opened);
    });
    return opened;
  }

  function discard(lost: OpenConnection): void {
    lost.destroy();
    if (connected !== lost) return;
    connected = undefined;
    current = undefined;
  }

  /** Discards the connection if no channel can be opened on it. */
  async function openChannel<T extends Channel>(create: (model: ChannelModel) => Promise<T>): Promise<T> {
    current ??= open();
    const connection = await current;
    try {
      const channel = await create(connection.model);
      // The request that failed rejects with the error.
      channel.on('error', () => {});
      return channel;
    } catch (error) {
      discard(connection);
      throw error;
    }
  }

  return {
    channel: () => openChannel((model) => model.createChannel()),
    confirmChannel: () => openChannel((model) => model.createConfirmChannel()),
    get blockedBecause() {
      return connected?.blockedBecause;
    },
    close: async () => {
      closing.abort();
      await current?.catch(() => {});
      if (connected === undefined) return;
      const { model, destroy } = connected;
      const timeout = new AbortController();
      await Promise.race([
        new Promise<void>((resolve) => model.once('close', () => resolve())),
        model.close().catch(() => {}),
        sleep(CLOSE_TIMEOUT_MS, undefined, { signal: timeout.signal }).catch(() => {}),
      ]);
      timeout.abort();
      destroy();
    },
  };
}

/** Uses a new channel for the work, because the broker closes a channel on which a request fails. */
export async function onChannel<T>(
  connection: Connection,
  work: (channel: Channel) => Promise<T>,
): Promise<T> {
  const channel = await connection.channel();
  try {
    return await work(channel);
  } finally {
    endChannel(channel);
  }
}

/** Does not wait: the library never responds if the connection is lost meanwhile. */
export function endChannel(channel: Channel): void {
  channel.close().catch(() => {});
}
