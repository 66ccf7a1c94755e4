import { describe, expect, it } from 'vitest';
import { aheadWith, channelFixture, ending, UNSTARTED } from './a-channel.ts';
import { detailOf, requestWith, valueIn } from './a-request.ts';
import { frameOf } from './frame-server.ts';

const INTERRUPTED = { kind: 'interrupted' };
/** On the clock of the fixture, which starts at 1,000. */
const LATER = 10_000;

describe('calls over one stream', () => {
  it('send the head with the number of the call, and the payload byte for byte', async () => {
    const { channel, received, untilReceived, answer } = await channelFixture();
    const call = channel.call(requestWith({ n: 1 }));
    await untilReceived(1);
    expect(received[0]).toMatchObject({ head: { call: 1, id: 'e-1', actor: 'score' }, body: '{"n":1}' });
    expect(received[0]?.head).not.toHaveProperty('start_by');
    answer(ending(1, 'done'));
    expect(valueIn(await call)).toBe('done');
  });

  it('get their own answers, whatever their order is', async () => {
    const { channel, answer, untilReceived } = await channelFixture({ concurrency: 3 });
    const calls = ['a', 'b', 'c'].map((payload) => channel.call(requestWith(payload)));
    await untilReceived(3);
    answer([{ kind: 'item', call: 2 }, '"b1"'], ending(3, 'c'), [{ kind: 'item', call: 2 }, '"b2"']);
    answer(ending(1, 'a'), [{ kind: 'end', call: 2 }, '']);
    expect((await Promise.all(calls)).map(valueIn)).toEqual(['a', ['b1', 'b2'], 'c']);
  });

  it('pass on the progress of the call that it belongs to', async () => {
    const { channel, answer, untilReceived } = await channelFixture({ concurrency: 2 });
    const seen: string[] = [];
    const onProgress = (name: string) => (progress: object) =>
      seen.push(`${name} ${JSON.stringify(progress)}`);
    const calls = ['a', 'b'].map((name) =>
      channel.call({ ...requestWith(name), onProgress: onProgress(name) }),
    );
    await untilReceived(2);
    answer([{ kind: 'progress', call: 2, percent: 50 }, ''], ending(1, 1), ending(2, 2));
    await Promise.all(calls);
    expect(seen).toEqual(['b {"percent":50}']);
  });

  it('can be read in any pieces', async () => {
    const { channel, write, untilReceived } = await channelFixture();
    const call = channel.call(requestWith('a'));
    await untilReceived(1);
    const bytes = Buffer.concat(['{"kind":"end","call":1}', '"é"'].map(frameOf));
    for (const byte of bytes) write(Buffer.of(byte));
    expect(valueIn(await call)).toBe('é');
  });
});

describe('a call before its turn', () => {
  it('is sent ahead with its limit, and starts when the one before it ends', async () => {
    const { channel, received, untilReceived, answer, durations, ...fixture } = await channelFixture();
    const started: number[] = [];
    const first = channel.call(requestWith('a'));
    const second = channel.call(aheadWith('b', LATER, { onStart: () => started.push(2) }));
    await untilReceived(2);
    expect(received[1]).toMatchObject({ head: { call: 2, start_by: LATER }, body: '"b"' });
    expect(started).toEqual([]);
    answer(ending(1, 'a'));
    await first;
    expect(started).toEqual([2]);
    answer(ending(2, 'b'));
    expect(valueIn(await second)).toBe('b');
    expect(durations).toEqual([0, 0]);
    expect(fixture.losses).toEqual([]);
  });

  it('is admitted again if the process rejects it as late', async () => {
    const { channel, untilReceived, answer } = await channelFixture();
    const calls = ['a', 'b', 'c'].map((name) => channel.call(aheadWith(name, LATER)));
    await untilReceived(3);
    answer(ending(1, 'a'), [{ kind: 'late', call: 2 }, ''], ending(3, 'c'));
    const [first, late, last] = await Promise.all(calls);
    expect([first, last].map((end) => end && valueIn(end))).toEqual(['a', 'c']);
    expect(late).toEqual(UNSTARTED);
  });

  it('waits in the sidecar if it has to start soon, and starts in time', async () => {
    const { channel, received, untilReceived, answer } = await channelFixture();
    const first = channel.call(requestWith('a'));
    const second = channel.call(aheadWith('b', 1_010));
    const third = channel.call(aheadWith('c', LATER));
    await untilReceived(1);
    answer(ending(1, 'a'));
    await first;
    await untilReceived(2);
    expect(received.map(({ body }) => body)).toEqual(['"a"', '"b"']);
    answer(ending(2, 'b'));
    expect(valueIn(await second)).toBe('b');
    await untilReceived(3);
    answer(ending(3, 'c'));
    expect(valueIn(await third)).toBe('c');
  });

  it('that waits in the sidecar for too long is not sent', async () => {
    const fixture = await channelFixture();
    const { channel, received, untilReceived, answer } = fixture;
    const first = channel.call(requestWith('a'));
    const second = channel.call(aheadWith('b', 1_010));
    await untilReceived(1);
    fixture.now = 1_011;
    answer(ending(1, 'a'));
    expect(await second).toEqual(UNSTARTED);
    expect(valueIn(await first)).toBe('a');
    expect(received).toHaveLength(1);
  });
});

describe('a timeout', () => {
  it('ends the call that hung, and abandoning the others tells apart which have started', async () => {
    const { channel, untilReceived, expireLast } = await channelFixture({ concurrency: 2 });
    const calls = ['a', 'b', 'c', 'd'].map((name) => channel.call(aheadWith(name, LATER)));
    await untilReceived(4);
    expireLast();
    expect(await calls[1]).toEqual({ kind: 'timeout' });
    channel.abandon();
    expect(await Promise.all(calls)).toEqual([INTERRUPTED, { kind: 'timeout' }, UNSTARTED, UNSTARTED]);
    expect(await channel.call(requestWith('e'))).toMatchObject({ kind: 'unreachable', isUnsent: true });
  });

  it('does not end a call whose answer has arrived and was not read yet', async () => {
    const { channel, untilReceived, answer, expireLast } = await channelFixture();
    const call = channel.call(requestWith('a'));
    await untilReceived(1);
    expireLast();
    answer(ending(1, 'a'));
    expect(valueIn(await call)).toBe('a');
    const next = channel.call(requestWith('b'));
    await untilReceived(2);
    answer(ending(2, 'b'));
    expect(valueIn(await next)).toBe('b');
  });

  it('of a call that was sent ahead does not run before its turn', async () => {
    const { channel, untilReceived, answer, expireLast } = await channelFixture();
    const first = channel.call(requestWith('a'));
    const second = channel.call(aheadWith('b', LATER));
    await untilReceived(2);
    expireLast();
    expect(await first).toEqual({ kind: 'timeout' });
    answer(ending(1, 'too late'));
    channel.abandon();
    expect(await second).toEqual(UNSTARTED);
  });
});

describe('the end of the stream', () => {
  it('fails the running call, and the others have not started', async () => {
    const { channel, untilReceived, exit, losses } = await channelFixture();
    const calls = ['a', 'b'].map((name) => channel.call(aheadWith(name, LATER)));
    await untilReceived(2);
    exit();
    expect(await calls[0]).toMatchObject({ kind: 'unreachable', isLost: true });
    expect(await calls[1]).toEqual(UNSTARTED);
    expect(losses).toEqual([undefined]);
    expect(channel.isReady).toBe(false);
  });

  it('after an answer does not change it', async () => {
    const { channel, untilReceived, answer, exit } = await channelFixture();
    const call = channel.call(requestWith('a'));
    await untilReceived(1);
    answer(ending(1, 'a'));
    exit();
    expect(valueIn(await call)).toBe('a');
  });
});

describe('bytes that are not an answer', () => {
  it.each<readonly [string, Buffer, RegExp]>([
    ['another protocol', Buffer.from('HTTP/1.1 200 OK\r\n\r\n'), /does not start with a frame length/],
    ['a head that is not JSON', Buffer.concat(['hello', ''].map(frameOf)), /head is not valid/],
    ['a head without a kind', Buffer.concat(['{"call":1}', ''].map(frameOf)), /head is not valid/],
    ['a head without a call', Buffer.concat(['{"kind":"end"}', '1'].map(frameOf)), /names no call/],
    ['an unknown kind', Buffer.concat(['{"kind":"x","call":1}', ''].map(frameOf)), /the kind "x"/],
    ['a head above the limit', Buffer.concat(['x'.repeat(2_000_000), ''].map(frameOf)), /head of a pair has/],
  ])('%s loses the process', async (_what, bytes, problem) => {
    const { channel, untilReceived, write, losses } = await channelFixture();
    const calls = ['a', 'b'].map((name) => channel.call(aheadWith(name, LATER)));
    await untilReceived(2);
    write(bytes);
    const [first, second] = await Promise.all(calls);
    expect(first && detailOf(first)).toMatch(problem);
    expect(second).toEqual(UNSTARTED);
    expect(losses).toEqual([expect.stringMatching(problem)]);
  });

  it('of one answer fail only its call', async () => {
    const { channel, untilReceived, answer, losses } = await channelFixture();
    const calls = ['a', 'b'].map((name) => channel.call(aheadWith(name, LATER)));
    await untilReceived(2);
    answer([{ kind: 'end', call: 1 }, '{'], ending(2, 'b'));
    const [first, second] = await Promise.all(calls);
    expect(first && detailOf(first)).toMatch(/not JSON/);
    expect(second && valueIn(second)).toBe('b');
    expect(losses).toEqual([]);
  });
});

describe('an answer above the limit', () => {
  it('is skipped, and the next call gets its own answer', async () => {
    const { channel, untilReceived, answer, losses } = await channelFixture();
    const calls = ['a', 'b'].map((name) => channel.call(aheadWith(name, LATER)));
    await untilReceived(2);
    answer(ending(1, 'x'.repeat(5_000_000)), ending(2, 'b'));
    const [first, second] = await Promise.all(calls);
    expect(first).toMatchObject({ kind: 'too-large', detail: expect.stringContaining('5000002 bytes') });
    expect(second && valueIn(second)).toBe('b');
    expect(losses).toEqual([]);
  });

  it('of a generator stops it, if the process can', async () => {
    const { channel, received, untilReceived, answer } = await channelFixture({
      ready: { kind: 'ready', stop: true },
    });
    const call = channel.call(requestWith('a'));
    await untilReceived(1);
    const item = [{ kind: 'item', call: 1 }, JSON.stringify('x'.repeat(600))] as const;
    answer(item, item);
    await untilReceived(2);
    expect(received[1]).toEqual({ head: { kind: 'stop', call: 1 }, body: '' });
    answer(item, [{ kind: 'end', call: 1 }, '']);
    expect(await call).toMatchObject({ kind: 'too-large' });
  });
});

describe('cancel and interrupt', () => {
  it('a canceled call that fails is resent, and calls that wait do not start', async () => {
    const { channel, received, untilReceived, answer } = await channelFixture();
    const [first, second, third] = [
      channel.call(aheadWith('a', LATER)),
      channel.call(aheadWith('b', LATER)),
      channel.call(aheadWith('c', 1_010)),
    ];
    channel.cancel();
    await untilReceived(3);
    expect(received[2]?.head).toEqual({ kind: 'cancel', reason: 'drain' });
    expect(await third).toEqual(INTERRUPTED);
    answer([{ kind: 'late', call: 2 }, ''], [{ kind: 'error', call: 1 }, '{"error":"c","details":{}}']);
    expect(await Promise.all([first, second])).toEqual([INTERRUPTED, INTERRUPTED]);
  });

  it('a canceled call that succeeds has succeeded', async () => {
    const { channel, untilReceived, answer } = await channelFixture();
    const call = channel.call(requestWith('a'));
    channel.cancel();
    await untilReceived(2);
    answer(ending(1, 'a'));
    expect(valueIn(await call)).toBe('a');
  });

  it('an interruption ends all calls, and later ones wait until the process is free', async () => {
    const { channel, received, untilReceived, answer } = await channelFixture();
    const calls = [aheadWith('a', LATER), aheadWith('b', LATER), aheadWith('c', 1_010)].map(channel.call);
    channel.interrupt();
    expect(await Promise.all(calls)).toEqual([INTERRUPTED, INTERRUPTED, INTERRUPTED]);
    // So that the process does not make the second call.
    await untilReceived(3);
    expect(received[2]?.head).toMatchObject({ kind: 'cancel' });
    const next = channel.call(aheadWith('d', LATER));
    await untilReceived(4);
    answer([{ kind: 'late', call: 2 }, ''], ending(1, 'a'), ending(3, 'd'));
    expect(valueIn(await next)).toBe('d');
  });
});
