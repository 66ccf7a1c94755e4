import type { Reply } from '../../ports/reply.ts';
import type { PullStream } from './pull-stream.ts';

/** A message that Pub/Sub hides from other consumers while this process holds it. */
export interface Lease {
  readonly ackId: string;
  readonly stream: PullStream;
  /** Whether it is handed out and not yet settled. */
  isHandedOut: boolean;
  /** Until when renewals keep the message hidden. */
  hiddenUntilMs: number;
  /** Until when Pub/Sub hides the message without a renewal. */
  leasedUntilMs: number;
  renewAtMs: number;
}

/**
 * Keeps deadlines short and renews them. The messages of a killed process are therefore redelivered soon, and a message in
 * process stays hidden for the whole visibility timeout. After that timeout it is not renewed, and is delivered again. Most
 * messages are done before half of their first deadline, which the stream sets, and need no request.
 */
export interface Leases {
  /** How many messages are handed out. */
  readonly handedOut: number;
  /** The deadline that streams request for new messages. */
  readonly firstSeconds: number;
  /** A message arrived. It stays hidden until it is handed out. */
  begin(ackId: string, stream: PullStream): Lease;
  /** The message is handed out: it stays hidden for the visibility timeout from now on. */
  handOut(lease: Lease): void;
  extend(lease: Lease): Promise<Reply>;
  /** Returns the message to the queue after the pause. */
  release(lease: Lease, pauseSeconds: number): Promise<Reply>;
  /** The message is settled. */
  end(lease: Lease): void;
  stop(): void;
}

export interface LeasesOptions {
  readonly visibilityMs: number;
  /** The shortest deadline that a stream can request. */
  readonly minFirstMs: number;
  readonly setDeadline: (ackId: string, seconds: number) => Promise<Reply>;
}

/**
 * How long the messages of a killed process stay hidden. A shorter time means more renewals: a message that is held for
 * long is renewed twice in this time.
 */
const LEASE_MS = 30_000;
const RENEW_AFTER = 1 / 2;
const CHECK_AFTER = 1 / 4;

export function leases({ visibilityMs, minFirstMs, setDeadline }: LeasesOptions): Leases {
  const firstSeconds = Math.ceil(Math.min(LEASE_MS, Math.max(visibilityMs, minFirstMs)) / 1000);
  const firstMs = firstSeconds * 1000;
  const held = new Set<Lease>();
  let handedOut = 0;
  let timer: NodeJS.Timeout | undefined;

  function hold(lease: Lease): void {
    if (!held.has(lease)) lease.stream.unsettled++;
    held.add(lease);
    timer ??= setInterval(renewDue, firstMs * CHECK_AFTER);
  }

  function setHandedOut(lease: Lease, isHandedOut: boolean): void {
    if (lease.isHandedOut !== isHandedOut) handedOut += isHandedOut ? 1 : -1;
    lease.isHandedOut = isHandedOut;
  }

  function end(lease: Lease): void {
    setHandedOut(lease, false);
    if (held.delete(lease)) lease.stream.unsettled--;
  }

  function leaseFor(lease: Lease, forMs: number): void {
    const now = performance.now();
    lease.leasedUntilMs = now + forMs;
    lease.renewAtMs = now + forMs * RENEW_AFTER;
  }

  /** Hides the message for a lease from now on, or for the rest of its visibility timeout if that is shorter. */
  async function renew(lease: Lease): Promise<Reply> {
    const seconds = Math.ceil(Math.min(LEASE_MS, lease.hiddenUntilMs - performance.now()) / 1000);
    leaseFor(lease, seconds * 1000);
    const reply = await setDeadline(lease.ackId, seconds);
    // Retry a failed renewal at the next check.
    if (!reply.ok) lease.renewAtMs = 0;
    return reply;
  }

  function renewDue(): void {
    const now = performance.now();
    for (const lease of held) {
      const { hiddenUntilMs, leasedUntilMs, renewAtMs } = lease;
      if (hiddenUntilMs <= now && leasedUntilMs <= now) end(lease);
      else if (hiddenUntilMs > Math.max(leasedUntilMs, now) && renewAtMs <= now) renew(lease);
    }
  }

  return {
    get handedOut() {
      return handedOut;
    },
    firstSeconds,
    begin: (ackId, stream) => {
      const lease: Lease = {
        ackId,
        stream,
        isHandedOut: false,
        hiddenUntilMs: Number.POSITIVE_INFINITY,
        leasedUntilMs: 0,
        renewAtMs: 0,
      };
      leaseFor(lease, firstMs);
      hold(lease);
      return lease;
    },
    handOut: (lease) => {
      setHandedOut(lease, true);
      lease.hiddenUntilMs = performance.now() + visibilityMs;
      if (visibilityMs < firstMs) renew(lease);
    },
    extend: (lease) => {
      hold(lease);
      setHandedOut(lease, true);
      lease.hiddenUntilMs = performance.now() + visibilityMs;
      return renew(lease);
    },
    release: (lease, pauseSeconds) => {
      if (pauseSeconds === 0) {
        end(lease);
      } else {
        // Pub/Sub counts it towards the stream's window until the pause is over.
        setHandedOut(lease, false);
        lease.hiddenUntilMs = performance.now() + pauseSeconds * 1000;
        lease.leasedUntilMs = lease.hiddenUntilMs;
      }
      return setDeadline(lease.ackId, pauseSeconds);
    },
    end,
    stop: () => clearInterval(timer),
  };
}
