import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ASYA_CASES, ASYA_ERRORS, ASYA_LANGUAGES, HEAD, type Pair, SHORT_HEAD } from './asya-cases.ts';
import { connectTo, type FramedConnection, frameOf } from './clients.ts';
import { endAll, startForTest, startRuntime, untilBegun, within } from './runtime-process.ts';

afterAll(endAll);

const FILES = { python: 'context_handlers', node: './context-handlers.ts' } as const;
const CANCEL = '{"kind":"cancel","reason":"drain"}';
const STOPS = { do: 'value', steps: [['untilcancelled']], value: 'stopped' };

function send(connection: FramedConnection, payload: unknown, head: object = HEAD): void {
  connection.send(JSON.stringify(head));
  connection.send(JSON.stringify(payload));
}

async function receivePair(connection: FramedConnection): Promise<Pair> {
  const [head, body] = [await connection.receive(), await connection.receive()];
  if (head === undefined || body === undefined) throw new Error('the runtime closed the connection');
  return { head: JSON.parse(head), body };
}

/** All pairs of an answer, up to its end. */
async function receiveAnswer(connection: FramedConnection): Promise<readonly Pair[]> {
  const pairs: Pair[] = [];
  for (;;) {
    const pair = await receivePair(connection);
    pairs.push(pair);
    if (pair.head['kind'] === 'end' || pair.head['kind'] === 'error') return pairs;
  }
}

describe.each(ASYA_LANGUAGES)('$name runtime, asya: protocol', (language) => {
  const handler = `${FILES[language.name]}.run`;
  const start = () => startForTest({ language, handler, over: 'asya' });
  const ended = { head: { kind: 'end' }, body: '"stopped"' };
  let connection: FramedConnection;
  beforeAll(async () => {
    connection = await connectTo((await startRuntime({ language, handler, over: 'asya' })).socketPath);
  });
  const call = (payload: unknown, head: object = HEAD) => {
    send(connection, payload, head);
    return receiveAnswer(connection);
  };

  it.each(ASYA_CASES)('answers with $title', async ({ payload, answer }) => {
    expect(await call(payload)).toEqual(answer);
  });

  it.each(ASYA_ERRORS)('answers $title with an error object', async ({ payload, before = [], message }) => {
    const pairs = await call(payload);
    expect(pairs.slice(0, -1)).toEqual(before);
    expect(pairs.at(-1)?.head).toEqual({ kind: 'error' });
    const error = JSON.parse(pairs.at(-1)?.body ?? '');
    expect(error).toMatchObject({ error: 'processing_error', message: expect.stringMatching(message) });
    expect(error.mro).toContain('Exception');
  });

  it('gives every fact to the handler', async () => {
    const [pair] = await call({ do: 'facts' });
    expect(JSON.parse(pair?.body ?? '')).toEqual({
      id: 'e-1',
      parent: 'e-0',
      actor: 'score',
      hop: 1,
      attempt: 2,
      max: 3,
      deadline: '2026-01-01T00:05:00Z',
      route: HEAD.route,
      headers: HEAD.headers,
      traceparent: '00-1-2-01',
      tracestate: 'a=1',
      error: HEAD.error,
      key: 'e-1:score:1',
      hasTimeLeft: true,
      cancelled: false,
    });
  });

  it('gives no value for facts that an envelope does not have', async () => {
    const [pair] = await call({ do: 'facts' }, SHORT_HEAD);
    const absent = {
      parent: null,
      max: null,
      deadline: null,
      traceparent: null,
      tracestate: null,
      error: null,
    };
    expect(JSON.parse(pair?.body ?? '')).toMatchObject({ ...absent, headers: {}, key: 'e-2:score:0' });
  });

  it.each([
    ['a head that is not JSON', '{', '{}'],
    ['a head without an id', JSON.stringify({ route: HEAD.route }), '1'],
    ['a head without a route', '{"id":"e-1"}', '1'],
    ['a head that is not an object', '7', '1'],
    ['a payload that is not JSON', JSON.stringify(HEAD), '{'],
    ['an empty payload', JSON.stringify(HEAD), ''],
  ])('rejects %s, and continues with the next call', async (_title, head, body) => {
    connection.send(head);
    connection.send(body);
    const pair = await receivePair(connection);
    expect(pair.head).toEqual({ kind: 'error' });
    expect(JSON.parse(pair.body)).toMatchObject({ error: 'bad_request', type: 'BadRequest' });
    expect(await call({ do: 'value', value: 1, steps: [] })).toEqual([{ head: { kind: 'end' }, body: '1' }]);
  });

  it('sends an item as soon as it is yielded, and cancels the call when it is asked to', async () => {
    send(connection, { do: 'items', steps: [['yield', 1], ['untilcancelled'], ['yield', 2]] });
    expect(await receivePair(connection)).toEqual({ head: { kind: 'item' }, body: '1' });
    connection.send(CANCEL);
    connection.send('');
    expect(await receiveAnswer(connection)).toEqual([
      { head: { kind: 'item' }, body: '2' },
      { head: { kind: 'end' }, body: '' },
    ]);
  });

  it('ignores a cancel that arrives after the end of its call', async () => {
    connection.send(CANCEL);
    connection.send('');
    const [pair] = await call({ do: 'facts' });
    expect(JSON.parse(pair?.body ?? '')).toMatchObject({ cancelled: false });
  });

  it('obeys a cancel that arrives together with its call', async () => {
    // A lost cancel would not be noticed if the call's own timeout canceled it.
    const head = JSON.stringify({ ...HEAD, timeout_ms: 86_400_000 });
    const frames = [head, JSON.stringify(STOPS), CANCEL, ''].map(frameOf);
    connection.socket.write(Buffer.concat(frames));
    expect(await receiveAnswer(connection)).toEqual([ended]);
    const [pair] = await call({ do: 'facts' });
    expect(JSON.parse(pair?.body ?? '')).toMatchObject({ cancelled: false });
  });

  it('does not send the progress of a call that has ended', async () => {
    await call({ do: 'value', value: 1, steps: [['keep']] });
    const late = { do: 'value', value: 2, steps: [['late', { percent: 50 }]] };
    expect(await call(late)).toEqual([{ head: { kind: 'end' }, body: '2' }]);
  });

  it('cancels the context of a call that has ended, and not the next one', async () => {
    await call({ do: 'value', value: 1, steps: [['keep']] });
    expect(await call({ do: 'keptcancelled' })).toEqual([{ head: { kind: 'end' }, body: 'true' }]);
    const [pair] = await call({ do: 'facts' });
    expect(JSON.parse(pair?.body ?? '')).toMatchObject({ cancelled: false });
  });

  it('cuts a long message of progress, and leaves large data out', async () => {
    const large = 'x'.repeat(2_000_000);
    const steps = [
      ['progress', { message: large }],
      ['progress', { percent: 1, data: large }],
      ['progress', { data: large }],
    ];
    expect(await call({ do: 'value', value: 1, steps })).toEqual([
      { head: { kind: 'progress', message: 'x'.repeat(1024) }, body: '' },
      { head: { kind: 'progress', percent: 1 }, body: '' },
      { head: { kind: 'end' }, body: '1' },
    ]);
  });

  it('cancels a call shortly before its timeout', async () => {
    const begin = performance.now();
    expect(await call(STOPS, { ...HEAD, timeout_ms: 1000 })).toEqual([ended]);
    expect(performance.now() - begin).toBeGreaterThan(800);
  });

  it('cancels the calls in flight on SIGTERM, answers them, and exits', async () => {
    const runtime = await start();
    const own = await connectTo(runtime.socketPath);
    send(own, STOPS);
    await untilBegun(runtime);
    runtime.child.kill('SIGTERM');
    expect(await receiveAnswer(own)).toEqual([ended]);
    expect(await within(runtime.ended, 'the end')).toEqual({ code: 0, signal: null });
  });

  it('runs calls on several connections at once', async () => {
    const runtime = await start();
    const [first, second] = [await connectTo(runtime.socketPath), await connectTo(runtime.socketPath)];
    send(first, STOPS);
    await untilBegun(runtime);
    send(second, { do: 'value', value: 'quick', steps: [] });
    expect(await receiveAnswer(second)).toEqual([{ head: { kind: 'end' }, body: '"quick"' }]);
    first.send(CANCEL);
    first.send('');
    expect(await receiveAnswer(first)).toEqual([ended]);
  });

  it('continues after a client disconnected during a generator', async () => {
    const runtime = await start();
    const lost = await connectTo(runtime.socketPath);
    send(
      lost,
      { do: 'items', steps: [['yield', 1], ['untilcancelled'], ['yield', 2]] },
      { ...HEAD, timeout_ms: 1000 },
    );
    await untilBegun(runtime);
    lost.socket.destroy();
    const next = await connectTo(runtime.socketPath);
    send(next, { do: 'value', value: 1, steps: [] });
    expect(await receiveAnswer(next)).toEqual([{ head: { kind: 'end' }, body: '1' }]);
  });

  it('reads a pair that arrives byte by byte, and two pairs that arrive together', async () => {
    const runtime = await start();
    const own = await connectTo(runtime.socketPath);
    const texts = [JSON.stringify(HEAD), '{"do":"value","steps":[],"value":"ä"}'];
    const pair = Buffer.concat(texts.map(frameOf));
    own.socket.setNoDelay(true);
    for (const byte of pair) await new Promise((resolve) => own.socket.write(Buffer.of(byte), resolve));
    expect(await receiveAnswer(own)).toEqual([{ head: { kind: 'end' }, body: '"ä"' }]);
    own.socket.write(Buffer.concat([pair, pair]));
    for (let answers = 0; answers < 2; answers++)
      expect(await receiveAnswer(own)).toEqual([{ head: { kind: 'end' }, body: '"ä"' }]);
  });
});
