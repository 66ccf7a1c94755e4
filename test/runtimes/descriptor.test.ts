import { spawnSync } from 'node:child_process';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { isAlive } from '../support/pids.ts';
import { ASYA_CASES, ASYA_ERRORS, HEAD, type Pair, SHORT_HEAD } from './asya-cases.ts';
import {
  bytesOf,
  CANCEL,
  launchOnDescriptor,
  type OnDescriptor,
  READY,
  receiveUntilClosed,
  type Sent,
  startOnDescriptor,
  startOnDescriptorForTest,
} from './descriptor-client.ts';
import { LANGUAGES, type Language } from './languages.ts';
import { endAll, untilBegun, waitFor, within } from './runtime-process.ts';

/** What a runtime does on the descriptors that the sidecar passes to it. */

afterAll(endAll);

const FILES = { python: 'context_handlers', node: './context-handlers.ts' } as const;
const DAY_MS = 86_400_000;
/** Without a timeout that could end the call instead of a `cancel`. */
const LONG_HEAD = { ...SHORT_HEAD, timeout_ms: DAY_MS };

const value = (call: number, result: unknown = call, more: object = {}): Sent => ({
  head: { ...SHORT_HEAD, ...more, call },
  payload: { do: 'value', steps: [], value: result },
});
/** Prints "begun" and waits until it is canceled. */
const waits = (call: number): Sent => ({
  head: { ...LONG_HEAD, call },
  payload: { do: 'value', steps: [['untilcancelled']], value: 'stopped' },
});
const end = (call: number, result: unknown = call): Pair => ({
  head: { kind: 'end', call },
  body: JSON.stringify(result),
});
const late = (call: number): Pair => ({ head: { kind: 'late', call }, body: '' });
const stopped = (call: number): Pair => end(call, 'stopped');
const byCall = (pairs: readonly Pair[]): readonly Pair[] =>
  pairs.toSorted((a, b) => Number(a.head['call']) - Number(b.head['call']));

describe.each(LANGUAGES)('$name runtime, on descriptors', (language) => {
  const handler = `${FILES[language.name]}.run`;
  const start = (env: Readonly<Record<string, string>> = {}): Promise<OnDescriptor> =>
    startOnDescriptorForTest({ language, handler, env });
  const startNamed = (name: string, env: Readonly<Record<string, string>> = {}): Promise<OnDescriptor> =>
    startOnDescriptorForTest({ language, handler: language.handler(name), env });

  describe('one call after the other', () => {
    let shared: OnDescriptor;
    beforeAll(async () => {
      shared = await startOnDescriptor({ language, handler });
    });
    const call = (one: Sent): Promise<readonly Pair[]> => shared.call(one);
    const numbered = (pairs: readonly Pair[], number: number): readonly Pair[] =>
      pairs.map(({ head, body }) => ({ head: { ...head, call: number }, body }));

    it.each(ASYA_CASES)(
      'answers with $title, and with the number of the call',
      async ({ payload, answer }) => {
        expect(await call({ head: { ...HEAD, call: 12 }, payload })).toEqual(numbered(answer, 12));
      },
    );

    it.each(ASYA_ERRORS)('answers $title with an error object', async ({ payload, before = [], message }) => {
      const pairs = await call({ head: { ...HEAD, call: 13 }, payload });
      expect(pairs.slice(0, -1)).toEqual(numbered(before, 13));
      expect(pairs.at(-1)?.head).toEqual({ kind: 'error', call: 13 });
      const error = JSON.parse(pairs.at(-1)?.body ?? '');
      expect(error).toMatchObject({ error: 'processing_error', message: expect.stringMatching(message) });
    });

    it.each([
      ['a head without an id', { route: HEAD.route, call: 3 }, 1, { call: 3 }],
      ['a head without a route', { id: 'e-1', call: 4 }, 1, { call: 4 }],
      ['an empty payload', { ...HEAD, call: 5 }, undefined, { call: 5 }],
      ['a head without a number', HEAD, 1, {}],
      ['a head that is not JSON', '{', 1, {}],
      ['a head that is not an object', '7', 1, {}],
    ])('rejects %s, and continues with the next call', async (_title, head, payload, expected) => {
      const [refused] = await call({ head, payload });
      expect(refused?.head).toEqual({ kind: 'error', ...expected });
      expect(JSON.parse(refused?.body ?? '')).toMatchObject({ error: 'bad_request', type: 'BadRequest' });
      expect(await call(value(6))).toEqual([end(6)]);
    });

    it('passes a payload of several megabytes in both directions', async () => {
      const large = 'ä'.repeat(4_000_000);
      expect(await call(value(1, large))).toEqual([end(1, large)]);
      expect(await call(value(2))).toEqual([end(2)]);
    });
  });

  it('sends nothing before it is ready, and then answers what has arrived before', async () => {
    const started = launchOnDescriptor({ language, handler });
    started.send(value(1), value(2));
    expect(await started.receiveMany(3)).toEqual([READY, end(1), end(2)]);
  });

  it('closes its descriptors without a word if the handler cannot be loaded', async () => {
    const started = launchOnDescriptor({ language, handler: language.handler('nowhere') });
    expect(await within(started.runtime.ended, 'the end')).toEqual({ code: 1, signal: null });
    expect(started.runtime.stderr()).toMatch(/^asya-runtime: cannot host .*"nowhere"/);
    expect(await receiveUntilClosed(started)).toEqual([]);
  });

  it.each([
    ['ASYA_RUNTIME_FD', 'four'],
    ['ASYA_RUNTIME_FD', '17'],
    ['ASYA_RUNTIME_FD', '3'],
    ['ASYA_RUNTIME_ANSWER_FD', ''],
    ['ASYA_RUNTIME_ANSWER_FD', 'five'],
    ['ASYA_RUNTIME_ANSWER_FD', '17'],
    ['ASYA_RUNTIME_ANSWER_FD', '3'],
    ['ASYA_CONCURRENCY', '0'],
    ['ASYA_RUNTIME_PROTOCOL', 'envelope'],
  ])('does not start with %s=%s', async (name, text) => {
    const { runtime } = launchOnDescriptor({
      language,
      handler: language.handler('echo'),
      env: { [name]: text },
    });
    expect(await within(runtime.ended, 'the end')).toEqual({ code: 1, signal: null });
    expect(runtime.stderr()).toMatch(/^asya-runtime: [^\n]*\n$/);
    expect(runtime.stderr()).toContain(`${name} is "${text}"`);
  });

  it('makes calls that arrive together one after the other, in their order', async () => {
    const started = await start();
    const numbers = Array.from({ length: 25 }, (_, at) => at + 1);
    started.send(...numbers.map((number) => value(number)));
    expect(await started.receiveMany(25)).toEqual(numbers.map((number) => end(number)));
  });

  it('reads pairs that arrive byte by byte', async () => {
    const started = await start();
    for (const byte of Buffer.concat([bytesOf(value(1, 'ä')), bytesOf(value(2))]))
      await new Promise((resolve) => started.calls.write(Buffer.of(byte), resolve));
    expect(await started.receiveMany(2)).toEqual([end(1, 'ä'), end(2)]);
  });

  it.each([1, 3])('runs at most %i calls at the same time', async (concurrency) => {
    const started = await start({ ASYA_CONCURRENCY: String(concurrency) });
    const numbers = Array.from({ length: concurrency }, (_, at) => at + 1);
    started.send(...numbers.map(waits), value(100), value(101));
    await untilBegun(started.runtime, concurrency);
    // The two calls behind them would be answered with a value if they had been started.
    started.send(CANCEL);
    const pairs = await started.receiveMany(concurrency + 2);
    expect(byCall(pairs)).toEqual([...numbers.map(stopped), late(100), late(101)]);
  });

  it('answers a quick call while a slow one runs', async () => {
    const started = await start({ ASYA_CONCURRENCY: '2' });
    const steps = [['yield', 'a'], ['untilcancelled'], ['yield', 'b']];
    started.send({ head: { ...LONG_HEAD, call: 1 }, payload: { do: 'items', steps } }, value(2), value(3));
    const item = (body: string): Pair => ({ head: { kind: 'item', call: 1 }, body });
    const early = await started.receiveMany(3);
    expect(byCall(early)).toEqual([item('"a"'), end(2), end(3)]);
    started.send(CANCEL);
    expect(await started.receiveMany(2)).toEqual([item('"b"'), { head: { kind: 'end', call: 1 }, body: '' }]);
  });

  it.each([
    ['at once', 'echo'],
    ['in an async handler', 'later'],
  ])('does not mix the answers of calls that run %s', async (_title, name) => {
    const started = await startNamed(name, { ASYA_CONCURRENCY: '4' });
    const numbers = Array.from({ length: 40 }, (_, at) => at + 1);
    started.send(...numbers.map((call) => ({ head: { ...SHORT_HEAD, call }, payload: `p${call}` })));
    const pairs = await started.receiveMany(40);
    expect(byCall(pairs)).toEqual(numbers.map((number) => end(number, `p${number}`)));
  });

  it('does not start a call after its `start_by`', async () => {
    const started = await start();
    const future = { start_by: Date.now() + DAY_MS };
    started.send(value(1, 'a', future), value(2, 'b', { start_by: 1000 }), value(3, 'c'));
    expect(await started.receiveMany(3)).toEqual([end(1, 'a'), late(2), end(3, 'c')]);
  });

  it('does not start calls that wait when a `cancel` arrives, but those that follow it', async () => {
    const started = await start();
    started.send(waits(1), value(2), value(3), CANCEL, value(4));
    const pairs = await started.receiveMany(4);
    // Whether the first call had been started depends on the machine.
    const [first] = byCall(pairs);
    expect([stopped(1), late(1)]).toContainEqual(first);
    expect(byCall(pairs).slice(1)).toEqual([late(2), late(3), end(4)]);
  });

  it('ignores a `cancel` without calls', async () => {
    const started = await start();
    started.send(CANCEL, CANCEL, value(1));
    expect(await started.receive()).toEqual(end(1));
  });

  it('ends a generator when the sidecar does not want the rest of its values', async () => {
    const started = await startNamed('endless');
    started.send({ head: { ...LONG_HEAD, call: 7 }, payload: 'x' });
    expect((await started.receive()).head).toEqual({ kind: 'item', call: 7 });
    const stop = (call: number): Sent => ({ head: { kind: 'stop', call } });
    started.send(stop(6), stop(8), stop(7), { head: { ...LONG_HEAD, call: 8 }, payload: 'y' });
    let pair = await started.receive();
    while (pair.head['kind'] === 'item' && pair.head['call'] === 7) pair = await started.receive();
    expect([
      { kind: 'end', call: 7 },
      { kind: 'error', call: 7 },
    ]).toContainEqual(pair.head);
    expect(await started.receive()).toEqual({ head: { kind: 'item', call: 8 }, body: '"y"' });
  });

  it('skips a frame that is too large, and stays usable', async () => {
    const started = await start({ ASYA_RUNTIME_MAX_REQUEST: '1000' });
    const huge = 'x'.repeat(3_000_000);
    started.send(
      value(1),
      value(2, huge),
      value(3),
      { head: { ...SHORT_HEAD, huge, call: 4 }, payload: 1 },
      value(5),
    );
    const pairs = await started.receiveMany(5);
    const withCall = pairs.filter(({ head }) => 'call' in head);
    expect(byCall(withCall).map(({ head }) => head)).toEqual([
      { kind: 'end', call: 1 },
      { kind: 'error', call: 2 },
      { kind: 'end', call: 3 },
      { kind: 'end', call: 5 },
    ]);
    // The number of the call is in the head that was skipped.
    expect(pairs.find(({ head }) => !('call' in head))?.head).toEqual({ kind: 'error' });
    const errors = pairs.filter(({ head }) => head['kind'] === 'error').map(({ body }) => JSON.parse(body));
    for (const error of errors)
      expect(error).toMatchObject({
        type: 'BadRequest',
        message: expect.stringMatching(
          /frame of 30\d{5} bytes is larger than ASYA_RUNTIME_MAX_REQUEST \(\d+ bytes\)/,
        ),
      });
  });

  it('reads a head that is larger than the limit for requests: without it, the call has no number', async () => {
    const started = await start({ ASYA_RUNTIME_MAX_REQUEST: '100' });
    const headers = { colour: 'x'.repeat(10_000) };
    const pairs = await started.call({ ...value(1), head: { ...SHORT_HEAD, headers, call: 1 } });
    expect(pairs.map(({ head }) => head)).toEqual([{ kind: 'end', call: 1 }]);
  });

  it('closes its end when the handler exits the process', async () => {
    const started = await startNamed('leave');
    started.send({ head: { ...SHORT_HEAD, call: 1 }, payload: 3 });
    expect(await within(started.runtime.ended, 'the end')).toEqual({ code: 3, signal: null });
    expect(await receiveUntilClosed(started)).toEqual([]);
  });

  // A Node handler that does not yield is killed by the guard that the sidecar starts with it.
  const busy = language.name === 'python' ? ['sleep', 'spin'] : ['sleep'];
  it.each(['echo', ...busy])('exits when the sidecar has ended, even during %s', async (name) => {
    const started = await startNamed(name);
    started.send({ head: { ...LONG_HEAD, call: 1 }, payload: 600 });
    if (name === 'echo') await started.receive();
    else await untilBegun(started.runtime);
    started.calls.destroy();
    await within(started.runtime.ended, 'the end');
  });

  it('keeps its descriptors from the processes that a handler starts', async () => {
    const started = await startNamed('startchild');
    const [answer] = await started.call({ head: { ...SHORT_HEAD, call: 1 }, payload: 1 });
    const child = Number(answer?.body);
    onTestFinished(() => void process.kill(child, 'SIGKILL'));
    started.runtime.child.kill('SIGKILL');
    await receiveUntilClosed(started);
    expect(isAlive(child)).toBe(true);
  });

  it('on SIGTERM cancels the running call, does not start others, and exits', async () => {
    const started = await start();
    started.send(waits(1), value(2));
    await untilBegun(started.runtime);
    started.runtime.child.kill('SIGTERM');
    // It may exit before it has read the second call.
    expect([[stopped(1)], [stopped(1), late(2)]]).toContainEqual(byCall(await receiveUntilClosed(started)));
    expect(await within(started.runtime.ended, 'the end')).toEqual({ code: 0, signal: null });
  });

  it('on SIGTERM without calls exits at once', async () => {
    const started = await start();
    started.runtime.child.kill('SIGTERM');
    expect(await within(started.runtime.ended, 'the end')).toEqual({ code: 0, signal: null });
  });
});

describe.runIf(LANGUAGES.some(({ name }) => name === 'python'))('python runtime, on descriptors', () => {
  const [python] = LANGUAGES.filter(({ name }) => name === 'python') as [Language];

  it('keeps its descriptors from a forked process', async () => {
    const started = await startOnDescriptorForTest({ language: python, handler: 'handlers.forkchild' });
    const [answer] = await started.call({ head: { ...SHORT_HEAD, call: 1 }, payload: 1 });
    const child = Number(answer?.body);
    onTestFinished(() => void process.kill(child, 'SIGKILL'));
    started.runtime.child.kill('SIGKILL');
    await receiveUntilClosed(started);
    expect(isAlive(child)).toBe(true);
  });

  it("collects garbage as usual once the handler is loaded, or as the handler's module has set it", async () => {
    const settings = async (handler: string): Promise<unknown> => {
      const started = await startOnDescriptorForTest({ language: python, handler });
      const [answer] = await started.call({ head: { ...SHORT_HEAD, call: 1 }, payload: 1 });
      return JSON.parse(answer?.body ?? '');
    };
    const usual = spawnSync(python.command, ['-c', 'import gc; print(gc.get_threshold()[0])'], {
      encoding: 'utf8',
    });
    expect(await settings('handlers.collections')).toEqual([true, Number(usual.stdout)]);
    expect(await settings('own_collections.run')).toEqual([false, 12_345]);
  });

  it('exits when the sidecar ends while the handler is being loaded', async () => {
    const started = launchOnDescriptor({ language: python, handler: 'slow_to_load.run' });
    await waitFor(() => started.runtime.stdout().includes('loading\n'), 'the handler to be loaded');
    started.calls.destroy();
    expect(await within(started.runtime.ended, 'the end')).toEqual({ code: 0, signal: null });
  });
});
