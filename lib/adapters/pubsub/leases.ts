import type { Reply } from '../../ports/reply.ts';
import type { PullStream } from './pull-stream.ts';

/** A message that Pub/Sub keeps from others because we hold it. */
export interface Lease {
  readonly ackId: string;
  readonly stream: PullStream;
  /** Handed out, and neither settled nor forgotten. */
  isHandedOut: boolean;
  /** For so long we keep it hidden, by renewals. */
  hiddenUntilMs: number;
  /** For so long Pub/Sub hides it by itself. */
  leasedUntilMs: number;
  renewAtMs: number;
}

/**
 * Deadlines are short and renewed: what a killed process held comes again within one of them, and what is worked on
 * stays hidden for the whole visibility time all the same. After that time nobody renews, and it comes again. Most are
 * done before half of their first deadline, which their stream asked for, and cost no request.
 */
export interface Leases {
  /** How many are handed out. */
  readonly handedOut: number;
  /** The deadline that streams are to ask for. */
  readonly firstSeconds: number;
  /** Here, and hidden for as long as nobody asks for it. */
  begin(ackId: string, stream: PullStream): Lease;
  /** Handed out: hidden for the visibility time from now on. */
  handOut(lease: Lease): void;
  extend(lease: Lease): Promise<Reply>;
  /** Back to whoever gets it, after so many seconds. */
  release(lease: Lease, pauseSeconds: number): Promise<Reply>;
  /** Settled. */
  end(lease: Lease): void;
  stop(): void;
}

export interface LeasesOptions {
  readonly visibilityMs: number;
  /** The shortest that streams can ask for. */
  readonly shortestFirstMs: number;
  readonly setDeadline: (ackId: string, seconds: number) => Promise<Reply>;
}

/** A lost process costs its messages so long, and a message that is held long a part of a request in half this time. */
const LEASE_MS = 30_000;
const RENEWED_AFTER = 1 / 2;
const LOOKED_AFTER = 1 / 4;

export function leases({ visibilityMs, shortestFirstMs, setDeadline }: LeasesOptions): Leases {
  const firstSeconds = Math.ceil(Math.min(LEASE_MS, Math.max(visibilityMs, shortestFirstMs)) / 1000);
  const firstMs = firstSeconds * 1000;
  const held = new Set<Lease>();
  let inHand = 0;
  let timer: NodeJS.Timeout | undefined;

  function hold(lease: Lease): void {
    if (!held.has(lease)) lease.stream.unsettled++;
    held.add(lease);
    timer ??= setInterval(look, firstMs * LOOKED_AFTER);
  }

  function setInHand(lease: Lease, isInHand: boolean): void {
    if (lease.isHandedOut !== isInHand) inHand += isInHand ? 1 : -1;
    lease.isHandedOut = isInHand;
  }

  function end(lease: Lease): void {
    setInHand(lease, false);
    if (held.delete(lease)) lease.stream.unsettled--;
  }

  function leaseFor(lease: Lease, forMs: number): void {
    const now = performance.now();
    lease.leasedUntilMs = now + forMs;
    lease.renewAtMs = now + forMs * RENEWED_AFTER;
  }

  /** Hidden for a lease from now on, or for what is left of its time. */
  async function renew(lease: Lease): Promise<Reply> {
    const seconds = Math.ceil(Math.min(LEASE_MS, lease.hiddenUntilMs - performance.now()) / 1000);
    leaseFor(lease, seconds * 1000);
    const reply = await setDeadline(lease.ackId, seconds);
    // At the next look: a renewal that failed is tried again.
    if (!reply.ok) lease.renewAtMs = 0;
    return reply;
  }

  function look(): void {
    const now = performance.now();
    for (const lease of held) {
      const { hiddenUntilMs, leasedUntilMs, renewAtMs } = lease;
      if (hiddenUntilMs <= now && leasedUntilMs <= now) end(lease);
      else if (hiddenUntilMs > Math.max(leasedUntilMs, now) && renewAtMs <= now) renew(lease);
    }
  }

  return {
    get handedOut() {
      return inHand;
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
      setInHand(lease, true);
      lease.hiddenUntilMs = performance.now() + visibilityMs;
      if (visibilityMs < firstMs) renew(lease);
    },
    extend: (lease) => {
      hold(lease);
      setInHand(lease, true);
      lease.hiddenUntilMs = performance.now() + visibilityMs;
      return renew(lease);
    },
    release: (lease, pauseSeconds) => {
      if (pauseSeconds === 0) {
        end(lease);
      } else {
        // Pub/Sub goes on counting it as its stream's, until the pause is over.
        setInHand(lease, false);
        lease.hiddenUntilMs = performance.now() + pauseSeconds * 1000;
        lease.leasedUntilMs = lease.hiddenUntilMs;
      }
      return setDeadline(lease.ackId, pauseSeconds);
    },
    end,
    stop: () => clearInterval(timer),
  };
}
