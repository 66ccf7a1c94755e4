import { describe, expect, it } from 'vitest';
import { type PushDeps, type PushResult, processPush } from '../../../lib/app/delivery/process-push.ts';
import { semaphore } from '../../../lib/async/semaphore.ts';
import type { CallResult } from '../../../lib/core/delivery/outcome.ts';
import { ACCEPTED } from '../../../lib/ports/reply.ts';
import { anEnvelope } from '../../core/a-delivery.ts';
import { VALUE } from '../a-consumer.ts';
import { aLine, fakeRuntime, recordingTelemetry } from '../a-line.ts';
import { memoryBroker } from '../memory-broker.ts';
import { type VirtualClock, virtualClock } from '../virtual-clock.ts';

const NEVER = new AbortController().signal;
const MINUTE_MS = 60_000;

interface HostOptions {
  readonly concurrency?: number;
  readonly budgetMs?: number;
  readonly timeoutMs?: number;
  readonly end?: (id: string, clock: VirtualClock) => CallResult | Promise<CallResult>;
  readonly restartsItself?: boolean;
  readonly refusedQueue?: string;
}

/** A host that receives pushes, in virtual time. By default each call takes a minute. */
function aHost(options: HostOptions = {}) {
  const { concurrency = 1, budgetMs = 10 * MINUTE_MS, timeoutMs = 5 * MINUTE_MS } = options;
  const clock = virtualClock();
  const broker = memoryBroker({ clock });
  for (const queue of ['score', 'store', 'x-sink']) broker.createQueue(queue);
  const end = options.end ?? (async () => clock.sleep(MINUTE_MS).then(() => VALUE));
  const runtime = fakeRuntime(({ envelope }) => end(envelope.id, clock), options.restartsItself ?? true);
  const transport = broker.transport();
  const telemetry = recordingTelemetry();
  const line = aLine({ runtime, clock, transport, telemetry, actor: { timeoutMs } });
  const stop = new AbortController();
  let hungCalls = 0;
  const deps: PushDeps = {
    line:
      options.refusedQueue === undefined
        ? line
        : {
            ...line,
            send: async ({ to }) => (to === options.refusedQueue ? { ok: false, problem: 'no' } : ACCEPTED),
          },
    slots: semaphore(concurrency),
    budgetMs,
    stop: stop.signal,
    onHung: () => {
      hungCalls++;
    },
  };
  const push = (id: string, disconnected = NEVER, waitedMs = 0): Promise<PushResult> => {
    const body = JSON.stringify(anEnvelope({ id }));
    return processPush(
      { body, messageId: id, receiveCount: 1, queue: 'score', handle: undefined },
      { disconnected, waitedMs },
      deps,
    );
  };
  const idsIn = (queue: string) => broker.bodiesIn(queue).map((body) => JSON.parse(body).id);
  return { clock, runtime, push, stop, deps, idsIn, telemetry, hungCalls: () => hungCalls };
}

describe('a push', () => {
  it('is acknowledged after its sends were accepted', async () => {
    const { push, clock, idsIn, deps } = aHost();
    expect(await clock.passUntilSettled(push('e-1'))).toBe('acked');
    expect(idsIn('store')).toEqual(['e-1']);
    expect(deps.slots.running).toBe(0);
  });

  it('is released if a send is refused', async () => {
    const { push, clock } = aHost({ refusedQueue: 'store' });
    expect(await clock.passUntilSettled(push('e-1'))).toBe('released');
  });

  it('releases its slot after a bug', async () => {
    const { push, clock, deps } = aHost({
      end: () => {
        throw new Error('a bug');
      },
    });
    await expect(clock.passUntilSettled(push('e-1'))).rejects.toThrow('a bug');
    expect(deps.slots.running).toBe(0);
  });

  it('is limited by the time that the broker waits', async () => {
    const { push, clock, runtime, idsIn } = aHost({ budgetMs: MINUTE_MS, timeoutMs: 5 * MINUTE_MS });
    expect(await clock.passUntilSettled(push('e-1'))).toBe('acked');
    // Not enough time for a call: resent unchanged.
    expect(runtime.calls).toEqual([]);
    expect(idsIn('score')).toEqual(['e-1']);
  });

  it('has less time if it arrived slowly', async () => {
    const { push, clock, runtime } = aHost({ budgetMs: 6 * MINUTE_MS });
    expect(await clock.passUntilSettled(push('e-1', NEVER, MINUTE_MS))).toBe('acked');
    expect(runtime.calls).toHaveLength(1);
    expect(await clock.passUntilSettled(push('e-2', NEVER, MINUTE_MS + 1))).toBe('acked');
    expect(runtime.calls, 'the answer would be too late').toHaveLength(1);
  });
});

describe('more pushes than slots', () => {
  it('wait while there is enough time for a whole call', async () => {
    const { push, clock, runtime } = aHost({ budgetMs: 10.5 * MINUTE_MS });
    const ends = Promise.all(Array.from({ length: 9 }, (_, index) => push(`e-${index}`)));
    // A call needs five of the ten minutes: six start at minutes 0 to 5, and three are rejected.
    expect((await clock.passUntilSettled(ends)).toSorted()).toEqual(
      [
        ...Array.from({ length: 6 }, () => 'acked'),
        ...Array.from({ length: 3 }, () => 'no-free-slot'),
      ].toSorted(),
    );
    expect(runtime.mostRunning).toBe(1);
    expect(runtime.calls).toHaveLength(6);
  });

  it('run concurrently up to the number of slots', async () => {
    const { push, clock, runtime } = aHost({ concurrency: 3 });
    const ends = Promise.all(Array.from({ length: 6 }, (_, index) => push(`e-${index}`)));
    expect(new Set(await clock.passUntilSettled(ends))).toEqual(new Set(['acked']));
    expect(runtime.mostRunning).toBe(3);
  });

  it('are not called after the broker disconnected', async () => {
    const { push, clock, runtime, deps } = aHost();
    const first = push('e-1');
    const caller = new AbortController();
    const second = push('e-2', caller.signal);
    await clock.pass(1_000);
    caller.abort();
    expect(await clock.passUntilSettled(second)).toBe('no-free-slot');
    expect(await clock.passUntilSettled(first)).toBe('acked');
    await clock.pass(MINUTE_MS);
    expect(runtime.calls).toHaveLength(1);
    expect(deps.slots).toMatchObject({ running: 0, waiting: 0 });
  });

  it('are rejected at once when the host stops; the one in flight continues', async () => {
    const { push, clock, stop } = aHost();
    const first = push('e-1');
    const second = push('e-2');
    await clock.pass(1_000);
    stop.abort();
    expect(await clock.passUntilSettled(second)).toBe('no-free-slot');
    expect(await push('e-3')).toBe('no-free-slot');
    expect(await clock.passUntilSettled(first)).toBe('acked');
  });
});

describe('a call that hangs', () => {
  const timeout: CallResult = { kind: 'timeout' };

  it('does not end the host if the runtime restarts itself', async () => {
    const { push, clock, idsIn, hungCalls } = aHost({ end: () => timeout });
    expect(await clock.passUntilSettled(push('e-1'))).toBe('acked');
    expect(idsIn('x-sink')).toEqual(['e-1']);
    expect(hungCalls()).toBe(0);
  });

  it('ends the host after its ack if the runtime cannot be restarted', async () => {
    const { push, clock, idsIn, hungCalls } = aHost({ end: () => timeout, restartsItself: false });
    expect(await clock.passUntilSettled(push('e-1'))).toBe('acked');
    expect(idsIn('x-sink')).toEqual(['e-1']);
    expect(hungCalls()).toBe(1);
  });
});
