import { pathToFileURL } from 'node:url';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { type Context, RetryAfter } from '../../lib/handler/index.ts';
import { type FlowRunOptions, runFlow } from '../../lib/testing/index.ts';
import { actorText } from '../config/manifest/a-mesh.ts';
import { aFolder } from '../support/a-folder.ts';
import { isAlive } from '../support/pids.ts';

const SCORE_TS = `
export function score({ text }) {
  if (text === undefined) throw new TypeError('text is missing');
  return { text, score: text.length };
}
export class Splitter {
  calls = 0;
  *split({ words }, context) {
    this.calls += 1;
    for (const word of words) {
      context.setHeader('word', word);
      yield { word, calls: this.calls };
    }
  }
}
`;

const STEPS_PY = `
import os

def store(payload, ctx):
    print("stores", payload)
    return {**payload, "stored": True, "attempt": ctx.attempt, "table": os.environ["TABLE"]}
`;

function aMesh(more: Readonly<Record<string, string>> = {}): string {
  return aFolder({
    'score.yaml': actorText(
      'score',
      'handler: score.ts.score',
      'next: [review]',
      'resiliency:',
      '  actorTimeout: 30s',
      '  policies:',
      '    default: {maxAttempts: 3, initialDelay: 2s}',
      '    review: {maxAttempts: 1, onExhausted: [review]}',
      '  rules:',
      '    - {errors: [TypeError], policy: noRetry}',
      '    - {errors: [Unsure], policy: review}',
    ),
    'split/split.yaml': actorText('split', 'handler: split.ts.Splitter.split'),
    'split/split.ts': SCORE_TS,
    'steps.yaml': [
      actorText('store', 'handler: steps.store', 'environment: {TABLE: texts}'),
      actorText('review', 'handler: score.ts.score'),
      actorText('model', 'image: example.com/model:1'),
      actorText('remote', 'url: http://127.0.0.1:9/invoke'),
    ].join('---\n'),
    'flows.yaml': [
      'flows:',
      '- {name: score-text, entrypoint: score, route_next: [store], timeout: 60}',
      '- {name: words, entrypoint: split, route_next: [store]}',
      '',
    ].join('\n'),
    'score.ts': SCORE_TS,
    'steps.py': STEPS_PY,
    ...more,
  });
}

const store = (payload: object) => ({ ...payload, stored: true });

function run(options: Partial<FlowRunOptions> = {}) {
  const { actor, route } = options;
  const flow = actor === undefined && route === undefined ? { flow: 'score-text' } : {};
  return runFlow({
    mesh: aMesh(),
    ...flow,
    payload: { text: 'hi' },
    handlers: { store },
    at: '2026-01-01T00:00:00Z',
    ...options,
  });
}

describe('runFlow', () => {
  it('runs the handlers of a flow, and returns the end, the timeline and what was sent', async () => {
    const { end, ends, timeline, timelineText, sent } = await run();
    expect(end).toEqual({
      id: 'test-envelope',
      phase: 'succeeded',
      reason: 'Completed',
      actor: 'store',
      payload: { text: 'hi', score: 2, stored: true },
      headers: { 'x-asya-flow': 'score-text' },
      route: { prev: ['score', 'store'], curr: '', next: [] },
      atMs: 2_000,
    });
    expect(ends).toEqual([end]);
    expect(timeline).toMatchObject([
      { actor: 'score', atMs: 0, attempt: 1, outcome: 'value', decision: 'passes', why: 'succeeded → store' },
      { actor: 'store', atMs: 1_000, attempt: 1, outcome: 'value', decision: 'passes' },
      { actor: 'x-sink', atMs: 2_000, decision: 'kept' },
    ]);
    expect(timelineText.split('\n')).toEqual([
      'TIME   ACTOR   ATTEMPT  WHAT             WHY',
      't+0 s  score   1        value after 1 s  succeeded → store',
      't+1 s  store   1        value after 1 s  succeeded, end of route → x-sink',
      't+2 s  x-sink           end recorded',
    ]);
    expect(sent).toMatchObject([
      { from: 'score', to: 'store', type: 'next', payload: { text: 'hi', score: 2 }, delayMs: 0 },
      { from: 'store', to: 'x-sink', type: 'sink', arrivesMs: 2_000 },
    ]);
  });

  it('runs Python handlers in a child process, with their environment', async () => {
    const print = vi.spyOn(process.stderr, 'write').mockReturnValue(true);
    onTestFinished(() => print.mockRestore());
    const { end } = await run({ handlers: {} });
    expect(print.mock.calls).toContainEqual(["store: stores {'text': 'hi', 'score': 2}\n"]);
    expect(end.payload).toEqual({ text: 'hi', score: 2, stored: true, attempt: 1, table: 'texts' });
  });

  it('calls a Python handler in one process per run', async () => {
    const mesh = aMesh({
      'count.yaml': actorText('count', 'handler: count.count'),
      'count.py':
        'import itertools\ncalls = itertools.count(1)\ndef count(payload):\n    return next(calls)\n',
      'flows.yaml': 'flows: [{name: words, entrypoint: split, route_next: [count]}]\n',
    });
    const counts = async () => {
      const { ends } = await run({ mesh, flow: 'words', payload: { words: ['a', 'b'] } });
      return ends.map(({ payload }) => payload);
    };
    expect(await counts()).toEqual([1, 2]);
    expect(await counts()).toEqual([1, 2]);
  });

  it('ends the processes of Python handlers', async () => {
    const mesh = aMesh({ 'steps.py': 'import os\ndef store(payload):\n    return os.getpid()' });
    const { end } = await run({ mesh, actor: 'store', handlers: {} });
    expect(end.payload).toBeGreaterThan(0);
    expect(isAlive(end.payload as number)).toBe(false);
  });

  it('retries failures in virtual time', async () => {
    const { end, timeline, sent } = await run({ fail: ['score:http:503@7*1', 'score:timeout*1'] });
    expect(timeline[0]).toMatchObject({
      outcome: 'error',
      error: { type: 'HTTPError', httpStatus: 503, retryAfter: '7' },
      decision: 'retries',
      policy: 'default',
      delayMs: 7_000,
    });
    expect(timeline[1]).toMatchObject({ atMs: 8_000, attempt: 2, outcome: 'timeout', decision: 'uncovered' });
    expect(sent[0]).toMatchObject({
      from: 'score',
      to: 'score',
      type: 'retry',
      delayMs: 7_000,
      arrivesMs: 8_000,
    });
    expect(end).toMatchObject({
      phase: 'failed',
      reason: 'ActorTimeout',
      payload: { text: 'hi' },
      atMs: 38_000,
    });
  });

  it('retries a handler that really fails', async () => {
    let calls = 0;
    const score = vi.fn((_: object, { attempt }: Context) => {
      calls += 1;
      if (calls === 1) throw new RetryAfter(9);
      return { attempt };
    });
    const { end, timeline } = await run({ handlers: { score, store } });
    expect(timeline.map(({ atMs }) => atMs)).toEqual([0, 10_000, 11_000, 12_000]);
    expect(end.payload).toEqual({ attempt: 2, stored: true });
    expect(score).toHaveBeenCalledTimes(2);
  });

  it('applies rules to the errors of real handlers', async () => {
    const { end } = await run({ payload: {} });
    expect(end).toMatchObject({
      phase: 'failed',
      reason: 'NonRetryableFailure',
      actor: 'score',
      error: { type: 'TypeError', message: 'text is missing' },
    });
    expect(end.error?.traceback).toContain('score.ts');
  });

  it('routes by onExhausted, and passes the error to the handler', async () => {
    const review = (_: object, { error }: Context) => ({ because: error?.type });
    const { end, timeline } = await run({ fail: 'score:Unsure', handlers: { review } });
    expect(timeline.map(({ actor, decision }) => `${actor} ${decision}`)).toEqual([
      'score exhausted',
      'review passes',
      'x-sink kept',
    ]);
    expect(end).toMatchObject({ phase: 'succeeded', actor: 'review', payload: { because: 'Unsure' } });
  });

  it('keeps the deadline of a flow', async () => {
    const { end } = await run({ take: ['10s', 'score=31s'], fail: 'store:crash' });
    expect(end).toMatchObject({ reason: 'ActorTimeout', atMs: 30_000 });
    const late = await run({ take: 'score=29s', fail: 'score:KeyError*1', handlers: {} });
    expect(late.end).toMatchObject({ reason: 'Timeout', error: { type: 'DeadlineExceeded' } });
  });

  it('runs the items of a fan-out at the same time, each to its own end', async () => {
    const { ends, end, timeline, timelineText, sent } = await run({
      flow: 'words',
      payload: { words: ['a', 'b'] },
      envelopeId: 'e-1',
    });
    expect(ends).toMatchObject([
      { id: 'e-1', payload: { word: 'a', calls: 1, stored: true }, headers: { word: 'a' }, atMs: 2_000 },
      { parentId: 'e-1', payload: { word: 'b', calls: 1 }, headers: { word: 'b' }, atMs: 2_000 },
    ]);
    expect(end).toBe(ends[0]);
    expect(timeline.map(({ atMs }) => atMs)).toEqual([0, 1_000, 1_000, 2_000, 2_000]);
    expect(sent.filter(({ to }) => to === 'store').map(({ headers }) => headers['word'])).toEqual(['a', 'b']);
    expect(timelineText).toMatch(/^ENVELOPE +TIME/);
  });

  it('fails one item of a fan-out', async () => {
    const { ends } = await run({
      flow: 'words',
      payload: { words: ['a', 'b', 'c'] },
      handlers: {
        store: ({ word }: { word: string }) => {
          if (word === 'b') throw new Error('no b');
          return word;
        },
      },
    });
    expect(ends.map(({ phase }) => phase)).toEqual(['succeeded', 'failed', 'succeeded']);
  });

  it('accepts an actor, a route, headers, a URL, a start and a seed', async () => {
    const byActor = await run({ actor: 'score', headers: { lang: 'de' } });
    expect(byActor.end).toMatchObject({ payload: { score: 2 }, headers: { lang: 'de' } });
    const mesh = pathToFileURL(aMesh());
    const byRoute = await run({ mesh, route: ['store', 'score'], at: new Date(0), seed: 3 });
    expect(byRoute.timeline.map(({ actor }) => actor)).toEqual(['store', 'score', 'x-sink']);
    const routed = await run({ headers: { _on_error: 'review' }, fail: 'score:KeyError' });
    expect(routed.end).toMatchObject({ actor: 'review', phase: 'succeeded' });
  });

  it('keeps the state of a handler within a run only', async () => {
    const options = { actor: 'split', payload: { words: ['a'] } };
    expect((await run(options)).end.payload).toEqual({ word: 'a', calls: 1 });
    expect((await run(options)).end.payload).toEqual({ word: 'a', calls: 1 });
  });

  it('sends only where the manifest allows', async () => {
    const score = (payload: object, context: Context) => {
      context.setRouteNext(['split']);
      return payload;
    };
    expect((await run({ handlers: { score } })).end).toMatchObject({
      phase: 'failed',
      reason: 'ValidationError',
    });
  });
});

describe('runFlow rejects', () => {
  const mistakes: readonly (readonly [Partial<FlowRunOptions>, string])[] = [
    [{ flow: 'score-txt' }, 'the mesh has no flow "score-txt"; did you mean "score-text"?'],
    [{ flow: 'score' }, `the mesh has no flow "score"; "score" is an actor: use actor: 'score'`],
    [{ actor: 'scor' }, 'actor: the mesh has no actor "scor"; did you mean "score"?'],
    [{ route: ['score', 'stor'] }, 'route: the mesh has no actor "stor"; did you mean "store"?'],
    [{ route: [] }, 'the route is empty'],
    [
      { flow: 'words', actor: 'score' },
      'expected one of flow, actor and route, but the options contain flow and actor',
    ],
    [{ handlers: { stor: store } }, 'handlers: the mesh has no actor "stor"; did you mean "store"?'],
    [{ fail: 'scor:KeyError' }, 'fail "scor:KeyError": the mesh has no actor "scor"; did you mean "score"?'],
    [{ fail: ['score:KeyError', 'score:E*1'] }, 'is never reached, because an earlier fail for "score"'],
    [{ take: 'score=soon' }, 'take is "score=soon"; expected ACTOR=DURATION'],
    [{ at: 'noon' }, 'at is "noon"; expected an RFC 3339 time'],
    [{ at: new Date('noon') }, 'at is "Invalid Date"'],
    [{ seed: 0.5 }, 'seed is 0.5; expected a whole number'],
    [{ payload: { at: new Date(0) } }, 'payload.at is a Date'],
    [{ payload: 'x'.repeat(2_000_000) }, 'SQS rejects an envelope with this payload'],
    [{ maxDeliveries: 1 }, 'the envelopes have not ended after 1 deliveries'],
    [
      { actor: 'model' },
      'runs in the image "example.com/model:1"; give a function for it: handlers: { model:',
    ],
    [{ actor: 'remote' }, 'runs at http://127.0.0.1:9/invoke; give a function'],
    [{ mesh: 'no-such-mesh' }, 'is not valid:\n  '],
  ];
  it.each(mistakes.map(([options, message]) => [message, options] as const))(
    '%s',
    async (message, options) => {
      await expect(run(options)).rejects.toThrow(message);
    },
  );

  it('a mesh with mistakes, with all of them', async () => {
    const mesh = aMesh({ 'bad.yaml': actorText('bad', 'handler: bad.ts.bad', 'memory: much') });
    await expect(run({ mesh })).rejects.toThrow(/bad\.yaml.*bad\.ts[\s\S]*bad\.yaml.*memory/);
  });

  it('handlers that cannot be loaded', async () => {
    const mesh = aMesh({ 'score.ts': 'export const other = 1;', 'steps.py': 'import nowhere' });
    await expect(run({ mesh })).rejects.toThrow('the handler of "score" cannot be loaded: ');
    await expect(run({ mesh, actor: 'store', handlers: {} })).rejects.toThrow(
      /the Python handler of actor "store" did not start:\n[\s\S]*nowhere/,
    );
  });

  it('handlers that hang, in Node and in Python', async () => {
    const mesh = aMesh({
      'score.ts': 'export const score = () => new Promise(() => {});',
      'steps.py': 'import time\ndef store(payload):\n    time.sleep(3600)',
    });
    const limit = { mesh, realTimeoutMs: 100, handlers: {} };
    await expect(run(limit)).rejects.toThrow('the handler of "score" did not end within 100 ms of real time');
    await expect(run({ ...limit, actor: 'store' })).rejects.toThrow(
      'the handler of "store" did not end within',
    );
  });
});
