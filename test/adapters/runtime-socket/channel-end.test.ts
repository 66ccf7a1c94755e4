import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { connect, createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { openChannel } from '../../../lib/adapters/runtime-socket/channel.ts';
import { realTimeouts } from '../../../lib/async/timeouts.ts';
import { aheadWith, channelFixture, ending, UNSTARTED } from './a-channel.ts';
import { requestWith, valueIn } from './a-request.ts';
import { frameOf } from './frame-server.ts';

/** What happens to the calls of a process that ends while calls are written to it. */

/** On the clock of the fixture. */
const LATER = 10_000;
const LOST = expect.objectContaining({ kind: 'unreachable', isLost: true });

it('a failed write does not stop the reading of answers, which show which call was running', async () => {
  const { channel, untilReceived, answer, failWrite, endAnswers, losses, untilLost } = await channelFixture();
  const calls = ['a', 'b', 'c', 'd'].map((name) => channel.call(aheadWith(name, LATER)));
  await untilReceived(4);
  failWrite();
  await untilLost;
  expect(channel.isReady).toBe(false);
  expect(await channel.call(aheadWith('e', LATER))).toMatchObject({ kind: 'unreachable', isUnsent: true });
  answer(ending(1, 'a'));
  endAnswers();
  const [first, ...others] = await Promise.all(calls);
  expect(first && valueIn(first)).toBe('a');
  expect(others).toEqual([LOST, UNSTARTED, UNSTARTED]);
  expect(losses).toEqual([undefined]);
});

it('a call that was not sent ends when the first stream ends, and is not sent', async () => {
  const { channel, received, untilReceived, answer, failWrite, endAnswers } = await channelFixture();
  const first = channel.call(aheadWith('a', LATER));
  const waiting = channel.call(aheadWith('b', 1_010));
  await untilReceived(1);
  failWrite();
  expect(await waiting).toEqual(UNSTARTED);
  answer(ending(1, 'a'));
  endAnswers();
  expect(valueIn(await first)).toBe('a');
  expect(received).toHaveLength(1);
});

it.each([
  ['before', ['failWrite', 'endAnswers']],
  ['after', ['endAnswers', 'failWrite']],
] as const)(
  'the only call was not started if its write failed %s the answers ended',
  async (_when, events) => {
    const { channel, untilReceived, answer, untilLost, ...fixture } = await channelFixture();
    const first = channel.call(aheadWith('a', LATER));
    const last = channel.call(aheadWith('b', LATER));
    await untilReceived(2);
    answer(ending(1, 'a'));
    await first;
    const [event, next] = events;
    fixture[event]();
    await untilLost;
    fixture[next]();
    expect(await last).toEqual(UNSTARTED);
  },
);

it('no call was started if the first write failed, even if its end is noticed later', async () => {
  const { channel, untilReceived, answer, failWrite, endAnswers, received, untilLost } =
    await channelFixture();
  const before = channel.call(requestWith('before'));
  await untilReceived(1);
  answer(ending(1, 'before'));
  await before;
  failWrite();
  const calls = ['a', 'b', 'c'].map((name) => channel.call(aheadWith(name, LATER)));
  await untilLost;
  endAnswers();
  expect(await Promise.all(calls)).toEqual([UNSTARTED, UNSTARTED, UNSTARTED]);
  expect(received).toHaveLength(1);
});

it('bytes that are not an answer are reported after a failed write, too', async () => {
  const { channel, untilReceived, write, failWrite, losses, untilLost } = await channelFixture();
  const call = channel.call(aheadWith('a', LATER));
  await untilReceived(1);
  failWrite();
  await untilLost;
  write(Buffer.from('HTTP/1.1 200 OK\r\n\r\n'));
  expect(await call).toEqual(LOST);
  expect(losses).toEqual([undefined, expect.stringMatching(/does not start with a frame length/)]);
});

it('calls end when the process has ended, even if another process keeps a stream open', async () => {
  const { channel, untilReceived, failWrite, losses, untilLost } = await channelFixture();
  const calls = ['a', 'b'].map((name) => channel.call(aheadWith(name, LATER)));
  await untilReceived(2);
  failWrite();
  await untilLost;
  channel.end();
  expect(await Promise.all(calls)).toEqual([LOST, UNSTARTED]);
  expect(losses).toEqual([undefined]);
});

it('an answer that waits in a socket is read after a write to another socket has failed', async () => {
  const pair = await socketPairs();
  const { calls, answers } = pair.ours;
  const ready = Promise.withResolvers<void>();
  const channel = openChannel(pair.ours, {
    actor: 'score',
    fanOut: 'array',
    maxAnswerBytes: 1_000,
    concurrency: 1,
    timeouts: realTimeouts,
    now: () => 1_000,
    onReady: ready.resolve,
    onEnded: () => {},
    onUnread: () => true,
    onLost: () => {},
  });
  pair.theirs.answers.write(pairOf([{ kind: 'ready' }, '']));
  await ready.promise;
  const started = ['a', 'b'].map((name) => channel.call(aheadWith(name, LATER)));
  await once(pair.theirs.calls, 'data');
  answers.pause();
  pair.theirs.answers.end(pairOf(ending(1, 'a')));
  pair.theirs.calls.destroy();
  const behind = ['c', 'd'].map((name) => channel.call(aheadWith(name, LATER)));
  await new Promise((resolve) => calls.once('close', resolve));
  answers.resume();
  const [first, ...others] = await Promise.all([...started, ...behind]);
  expect(first && valueIn(first)).toBe('a');
  expect(others).toEqual([LOST, UNSTARTED, UNSTARTED]);
});

function pairOf([head, body]: readonly [object, string]): Buffer {
  return Buffer.concat([JSON.stringify(head), body].map(frameOf));
}

interface Ends {
  readonly calls: Socket;
  readonly answers: Socket;
}

/** Two connections, as a process inherits them. */
async function socketPairs(): Promise<{ readonly ours: Ends; readonly theirs: Ends }> {
  const folder = mkdtempSync(join(tmpdir(), 'asya-pairs-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const server = createServer().listen(join(folder, 'app.sock'));
  const pair = async (): Promise<readonly [Socket, Socket]> => {
    const accepted = once(server, 'connection') as Promise<[Socket]>;
    const ours = connect(join(folder, 'app.sock'));
    const [theirs] = await accepted;
    onTestFinished(() => void theirs.destroy());
    return [ours, theirs];
  };
  const [calls, answers] = [await pair(), await pair()];
  server.close();
  return { ours: { calls: calls[0], answers: answers[0] }, theirs: { calls: calls[1], answers: answers[1] } };
}
