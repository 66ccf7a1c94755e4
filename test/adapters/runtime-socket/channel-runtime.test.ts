import { duplexPair } from 'node:stream';
import { expect, it } from 'vitest';
import { channelRuntime } from '../../../lib/adapters/runtime-socket/channel-runtime.ts';
import type { CallResult } from '../../../lib/core/delivery/outcome.ts';
import { ending, UNSTARTED } from './a-channel.ts';
import { requestWith, valueIn } from './a-request.ts';
import { frameOf } from './frame-server.ts';

/** One runtime whose processes end, one after the other. */

const LOST = expect.objectContaining({ kind: 'unreachable', isLost: true });

function runtimeFixture() {
  const runtime = channelRuntime({
    actor: 'score',
    fanOut: 'array',
    maxAnswerBytes: 1_000,
    concurrency: 1,
    now: () => 1_000,
  });

  /** Starts the next process. Resolves when it is ready. */
  async function startProcess() {
    const [calls, incoming] = duplexPair({ allowHalfOpen: false });
    const [answers, outgoing] = duplexPair({ allowHalfOpen: false });
    const ready = Promise.withResolvers<void>();
    runtime.attach({ calls, answers }, ready.resolve, () => {});
    const answer = ([head, body]: readonly [object, string]) =>
      void outgoing.write(Buffer.concat([JSON.stringify(head), body].map(frameOf)));
    outgoing.resume();
    answer([{ kind: 'ready' }, '']);
    await ready.promise;
    return { calls, incoming, outgoing, answer };
  }

  /** Calls a process that has ended, which is not known yet. */
  async function callEnded(): Promise<CallResult> {
    const { calls, outgoing } = await startProcess();
    calls.destroy(new Error('write EPIPE'));
    const call = runtime.call(requestWith('a'));
    outgoing.end();
    return await call;
  }

  /** Calls a process that answers. */
  async function callAnswering(): Promise<CallResult> {
    const { incoming, answer } = await startProcess();
    incoming.once('data', () => answer(ending(1, 'a')));
    return await runtime.call(requestWith('a'));
  }
  return { callEnded, callAnswering };
}

it('a call fails in the end if all processes end before they read it', async () => {
  const { callEnded } = runtimeFixture();
  const ends: CallResult[] = [];
  for (let times = 0; times < 5; times++) ends.push(await callEnded());
  expect(ends).toEqual([UNSTARTED, UNSTARTED, UNSTARTED, LOST, LOST]);
});

it('a call does not fail because of processes that ended before the last answer', async () => {
  const { callEnded, callAnswering } = runtimeFixture();
  for (let times = 0; times < 3; times++) expect(await callEnded()).toEqual(UNSTARTED);
  expect(valueIn(await callAnswering())).toBe('a');
  expect(await callEnded()).toEqual(UNSTARTED);
});
