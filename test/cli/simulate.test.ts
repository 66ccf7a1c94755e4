import { describe, expect, it } from 'vitest';
import { actorText } from '../config/manifest/a-mesh.ts';
import { aFolder } from '../support/a-folder.ts';
import { asyaAtNoon as asya } from './a-terminal.ts';

const MESH = {
  'score.yaml': actorText(
    'score',
    'handler: score.ts.score',
    'resiliency:',
    '  actorTimeout: 30s',
    '  policies:',
    '    default: {maxAttempts: 4, initialDelay: 1500ms}',
    '    jittery: {maxAttempts: 2, initialDelay: 20s, jitter: true}',
    '    far: {maxAttempts: 2, initialDelay: 40m, onExhausted: [review]}',
    '    old: {maxAttempts: unlimited, expireAfter: 1h, onExhausted: {action: drop}}',
    '    loud: {maxAttempts: 1, onExhausted: {action: escalate, topic: errors}}',
    '  rules:',
    '    - {errors: [LookupError], policy: noRetry}',
    '    - {errors: ["http:429"], policy: jittery}',
    '    - {errors: ["http:4xx"], policy: far}',
    '    - {errors: [Old], policy: old}',
    '    - {errors: [Loud], policy: loud}',
  ),
  'steps.yaml': `${actorText('store', 'handler: steps.store')}---\n${actorText('review', 'handler: steps.review')}`,
  'flows.yaml': [
    'flows:',
    '- {name: score-text, entrypoint: score, route_next: [store], timeout: 60}',
    '- {name: slowly, entrypoint: score, route_next: [store]}',
    '',
  ].join('\n'),
  'score.ts': '',
  'steps.py': '',
  'payload.json': '{"text": "hello"}',
};

function simulate(...args: readonly string[]) {
  return asya(aFolder(MESH), 'simulate', '.', ...args);
}

/** The words after the time, actor and attempt of each line. */
async function lines(...args: readonly string[]): Promise<readonly string[]> {
  const { out, err, status } = await simulate(...args);
  expect([status, err]).toEqual([0, '']);
  return out.split('\n').map((line) => line.replace(/ {2,}/g, ' | '));
}

describe('asya simulate', () => {
  it('prints the timeline, the end, the verdict and the requests', async () => {
    const { status, out, err } = await simulate('score-text', '--fail', 'score:ValueError*2');
    expect([status, err]).toEqual([0, '']);
    expect(out.split('\n')).toEqual([
      'flow score-text: score → store, 1m for all of it, from 2026-01-01T12:00:00Z',
      '',
      'TIME  ACTOR   ATTEMPT  WHAT                 WHY',
      't+0s  score   1 of 4   ValueError after 1s  no rule, policy "default": retry in 1.5s, 2s on SQS',
      't+3s  score   2 of 4   ValueError after 1s  no rule, policy "default": retry in 3s',
      't+7s  score   3        a value after 1s     → store',
      't+8s  store   1        a value after 1s     the route ends → x-sink',
      't+9s  x-sink           records its end',
      '',
      'end   succeeded, Completed, at store after 9s; went to x-sink',
      'SLA   met, with 51s of 1m to spare',
      "SQS   15 requests: 5 sends (the gateway's first one included), 5 receives, 5 deletes; for one envelope, without batching",
      'note  each call takes 1s where --take says nothing else; queues and cold starts take no time here',
    ]);
  });

  it('tells an exhausted policy, and where it went', async () => {
    const told = await lines('score-text', '--fail', 'score:ValueError');
    expect(told).toContain(
      't+14s | score | 4 of 4 | ValueError after 1s | no rule, policy "default": 4 of 4 attempts made → x-sink, PolicyExhausted',
    );
    expect(told).toContain('t+15s | x-sink | records its end | it failed → x-sump');
    expect(told).toContain(
      'end | failed, PolicyExhausted (ValueError), at score after 15s; went to x-sink, x-sump',
    );
    expect(told).toContain('SLA | not reached: 45s of 1m were left when it failed');
  });

  it('knows the ancestors of the usual errors', async () => {
    const told = await lines('score-text', '--fail', 'score:KeyError<LookupError');
    expect(told[3]).toContain('rule 1 (LookupError), built-in policy "noRetry": one attempt is all');
    // In Node, a KeyError is a class of one's own.
    expect((await lines('score-text', '--fail', 'score:KeyError*1'))[3]).toContain('no rule');
  });

  it('takes HTTP statuses with the pause they ask for, and says what jitter was taken', async () => {
    const told = await lines('score', '--fail', 'score:http:429@7*1');
    expect(told[0]).toBe('actor score, from 2026-01-01T12:00:00Z');
    expect(told[3]).toBe(
      't+0s | score | 1 of 2 | HTTPError 429 after 1s, retry_after 7s | rule 2 (http:429), policy "jittery": retry in 21s, jitter included',
    );
    expect(told).toContain('note | jitter is taken at its half, 5% of the delay; --seed N rolls dice for it');
    expect(told).toContain('SLA | none: only flows have a timeout');
    expect((await lines('score', '--fail', 'score:http:429@1m*1'))[3]).toContain(
      'retry in 1m, as retry_after asks',
    );
  });

  it('rolls the same dice for the same seed', async () => {
    const rolled = await lines('score', '--fail', 'score:http:429*1', '--seed', '7');
    expect(rolled).toContain('note | jitter is rolled from seed 7');
    expect(await lines('score', '--fail', 'score:http:429*1', '--seed', '7')).toEqual(rolled);
    expect(await lines('score', '--fail', 'score:http:429*1', '--seed', '8')).not.toEqual(rolled);
  });

  it('tells waits in pieces once, and who was never called', async () => {
    const told = await lines('slowly', '--fail', 'score:http:404', '--fail', 'store:crash');
    expect(told.slice(3, 7)).toEqual([
      't+0s | score | 1 of 2 | HTTPError 404 after 1s | rule 3 (http:4xx), policy "far": retry in 40m, in pieces of 15m: SQS can no more',
      't+15m1s | score | not yet due (2 times) | due at t+40m1s: sent again, no attempt counted',
      't+40m1s | score | 2 of 2 | HTTPError 404 after 1s | rule 3 (http:4xx), policy "far": 2 of 2 attempts made, onExhausted → review',
      't+40m2s | review | 1 | a value after 1s | the route ends → x-sink',
    ]);
    expect(told).toContain('SLA | none: the flow has no timeout');
    expect(told).toContain('note | store is never called, so --fail says nothing of it here');
  });

  it.each([
    ['timeout', '30s', 'no rule takes a timeout, and the default never retries one → x-sink, ActorTimeout'],
    [
      'Loud',
      '1s',
      'rule 5 (Loud), policy "loud": one attempt is all, escalate → errors and x-sink, Escalated',
    ],
  ])('tells what becomes of %s', async (error, after, why) => {
    const told = await lines('score-text', '--fail', `score:${error}`);
    expect(told[3]).toContain(why);
    expect(told[4]).toMatch(`t+${after} | x-sink`);
  });

  it('tells what is dropped, by the age that a header says', async () => {
    const old = ['--header', 'event_time=2026-01-01T11:00:00Z'];
    const told = await lines('score', '--fail', 'score:Old', ...old);
    expect(told[3]).toContain('policy "old": its expireAfter of 1h is over, drop → x-sink, Dropped');
    expect(told).toContain(
      'end | failed, Dropped (Old), at score after 1s; went to x-sink; x-sink does not forward what was dropped',
    );
    expect((await lines('score', '--fail', 'score:Old', '--header', '_on_error=review'))[3]).toContain(
      'header _on_error → review',
    );
  });

  it.each([
    [['--take', '25s', '--fail', 'score:X'], 'missed at score: the 1m were over during the call'],
    [['--take', 'score=29s', '--take', 'store=32s'], 'missed at store: the 1m were over during the call'],
    [
      ['--take', 'score=27.5s', '--fail', 'score:X'],
      'missed at score: the retry was not sent, because less than 1s of 1m would be left when it arrives',
    ],
    [
      ['--take', 'score=28.7s', '--fail', 'score:X*1'],
      'missed at store: it arrived with less than 1s of 1m left, and was not worked on',
    ],
  ])('tells how the deadline is missed: %j', async (args, verdict) => {
    expect(await lines('score-text', ...args)).toContain(`SLA | ${verdict}`);
  });

  it('tells the beginning and the end of what is very long', async () => {
    const told = await lines('score', '--fail', 'score:Old', '--take', '20s');
    expect(told).toContain('… 122 more; --json tells them all');
    expect(told.length).toBeLessThan(75);
    const endless = await lines('score', '--fail', 'score:Old', '--take', '0s');
    expect(endless).toContain('end | none in sight: left off after 20000 deliveries, 0s');
  });

  it('tells scripts in JSON', async () => {
    const args = [
      '--fail',
      'score:ValueError*1',
      '--at',
      '2026-05-01T02:00:00+02:00',
      '--json',
      '--seed',
      '1',
    ];
    const { status, out } = await simulate('score-text', ...args, '--payload', 'payload.json');
    expect(status).toBe(0);
    const told = JSON.parse(out);
    expect(told).toMatchObject({
      flow: 'score-text',
      route: ['score', 'store'],
      timeoutMs: 60_000,
      startsAt: '2026-05-01T00:00:00Z',
      seed: 1,
      end: { kind: 'ended', phase: 'succeeded', atMs: 5_000 },
      deadline: { verdict: 'met', spareMs: 55_000 },
      requests: { sends: 4, receives: 4, deletes: 4, total: 12 },
    });
    expect(told.steps[0]).toMatchObject({
      actor: 'score',
      attempt: 1,
      call: { outcome: 'error', fault: { type: 'ValueError', mro: ['ValueError', 'Error', 'Exception'] } },
      decision: { kind: 'retries', by: { policy: 'default', maxAttempts: 4 }, delayMs: 1_500 },
    });
  });
});

describe('a mistake in the call', () => {
  it.each([
    [['score-txt'], 'the mesh has neither a flow nor an actor "score-txt"; did you mean "score-text"?'],
    [['score', '--fail', 'scor:X'], '--fail "scor:X": the mesh has no actor "scor"; did you mean "score"?'],
    [['score', '--fail', 'x-sink:X'], '--fail "x-sink:X": the mesh has no actor "x-sink"; did you mean'],
    [
      ['score', '--fail', 'score'],
      '--fail is "score"; it takes ACTOR:ERROR*TIMES, such as "score:ValueError*3"',
    ],
    [['score', '--fail', 'score:*2'], '--fail is "score:*2"; it takes ACTOR:ERROR*TIMES'],
    [['score', '--fail', 'score:X*0'], '--fail is "score:X*0"; "*0" fails no call'],
    [['score', '--fail', 'score:X*two'], '--fail is "score:X*two"; what follows "*" is no number'],
    [['score', '--fail', 'score:tiemout'], '"tiemout" is no error\'s name; did you mean "timeout"?'],
    [['score', '--fail', 'score:http503'], '"http503" is no error\'s name; did you mean "http:503"?'],
    [['score', '--fail', 'score:http:200'], '"http:200" is no HTTP error; one is "http:400" to "http:599"'],
    [['score', '--fail', 'score:http:429@soon'], '"@soon" is no pause; it takes seconds or a duration'],
    [['score', '--fail', 'score:A<'], '"" is no error\'s name'],
    [['score', '--fail', 'score:A', '--fail', 'score:B'], '--fail "score:B" never comes to pass'],
    [['score', '--take', 'scor=1s'], '--take "scor=1s": the mesh has no actor "scor"; did you mean "score"?'],
    [['score', '--take', 'score=fast'], '--take is "score=fast"; it takes ACTOR=DURATION, and a duration is'],
    [['score', '--at', 'noon'], '--at is "noon"; a time is RFC 3339 text like'],
    [['score', '--seed', 'x'], '--seed is "x"; it takes a whole number such as 7'],
    [['score', '--header', 'event_time'], '--header is "event_time"; it takes NAME=VALUE'],
    [
      ['score', '--payload', '{a}'],
      '--payload is "{a}", neither JSON (unexpected "a" at line 1, column 2) nor a file',
    ],
    [['score', '--payload', 'score.yaml'], '--payload score.yaml is not JSON: unexpected "a"'],
  ])('is told in one sentence: %j', async (args, words) => {
    const { status, out, err } = await simulate(...args);
    expect([status, out]).toEqual([2, '']);
    expect(err).toContain(words);
    expect(err).toMatch(/^asya: [^\n]+$/);
  });

  it('is also what SQS would not take, and a mesh that has mistakes', async () => {
    const folder = aFolder({ ...MESH, 'large.json': `"${'x'.repeat(1024 * 1024)}"` });
    const large = await asya(folder, 'simulate', '.', 'score', '--payload', 'large.json');
    expect([large.status, large.err]).toEqual([2, expect.stringContaining('an envelope that SQS refuses')]);
    const wrong = await asya(aFolder({ 'a.yaml': actorText('a', 'url: nowhere') }), 'simulate', '.', 'a');
    expect([wrong.status, wrong.err]).toEqual([
      2,
      expect.stringMatching(/^asya: 1 mistake in the mesh\n {2}a\.yaml:6:3 spec\.url: /),
    ]);
    expect(await asya('/', 'simulate', '.')).toMatchObject({ status: 2, out: '' });
  });

  it('is helped by examples', async () => {
    const { status, out } = await asya('/', 'simulate', '--help');
    expect(status).toBe(0);
    expect(out).toContain("asya simulate my-mesh score-text --fail 'score:ValueError*3'");
  });
});
