import { describe, expect, it } from 'vitest';
import { actorText } from '../config/manifest/a-mesh.ts';
import { aFolder } from '../support/a-folder.ts';
import { asyaAtNoon as asya } from './run-asya.ts';

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

/** The printed lines, with columns separated by ` | `. */
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
      'flow score-text: score → store, timeout 1 min, starting at 2026-01-01T12:00:00Z',
      '',
      'TIME   ACTOR   ATTEMPT  WHAT                  WHY',
      't+0 s  score   1 of 4   ValueError after 1 s  no rule matches, policy "default": retried, next in 1.5 s, rounded up to 2 s by SQS',
      't+3 s  score   2 of 4   ValueError after 1 s  no rule matches, policy "default": retried, next in 3 s',
      't+7 s  score   3        value after 1 s       succeeded → store',
      't+8 s  store   1        value after 1 s       succeeded, end of route → x-sink',
      't+9 s  x-sink           end recorded',
      '',
      'end   succeeded, Completed, at store after 9 s; sent to x-sink',
      'SLA   met, with 51 s of 1 min to spare',
      "SQS   15 requests: 5 sends (including the gateway's), 5 receives, 5 deletes; for one envelope, without batching",
      'note  each call takes 1 s unless --take sets another duration; queue time and cold starts are not simulated',
      'note  assumes that ValueError derives from Error directly; write "ValueError<Parent" to say otherwise',
    ]);
  });

  it('says which ancestors it assumes: not those of standard errors, nor given ones', async () => {
    const notes = async (...fail: readonly string[]) => {
      const printed = await lines('score-text', ...fail.flatMap((one) => ['--fail', one]));
      return printed.filter((line) => line.includes('assumes'));
    };
    expect(
      await notes('store:ValueError', 'score:TypeError*1', 'score:timeout', 'review:KeyError@1m'),
    ).toEqual([]);
    expect(await notes('score:Odd<TypeError*1', 'score:http:503', 'store:json.JSONDecodeError')).toEqual([]);
    expect(await notes('score:Odd*1', 'score:Odd@1m*1', 'store:pkg.Quota')).toEqual([
      'note | assumes that Odd derives from Error directly; write "Odd<Parent" to say otherwise',
      'note | assumes that pkg.Quota derives from Exception directly; write "pkg.Quota<Parent" to say otherwise',
    ]);
  });

  it('prints an exhausted policy, and where the envelope is sent', async () => {
    const printed = await lines('score-text', '--fail', 'score:ValueError');
    expect(printed).toContain(
      't+14 s | score | 4 of 4 | ValueError after 1 s | no rule matches, policy "default": exhausted, 4 of 4 attempts used → x-sink, PolicyExhausted',
    );
    expect(printed).toContain('t+15 s | x-sink | end recorded | failed → x-sump');
    expect(printed).toContain(
      'end | failed, PolicyExhausted (ValueError), at score after 15 s; sent to x-sink, x-sump',
    );
    expect(printed).toContain('SLA | not reached: 45 s of 1 min were left when it failed');
  });

  it('knows the ancestors of built-in errors', async () => {
    const printed = await lines('score-text', '--fail', 'score:KeyError<LookupError');
    expect(printed[3]).toContain(
      'rule 1 (LookupError), built-in policy "noRetry": exhausted, only 1 attempt allowed',
    );
    // Node has no built-in KeyError.
    expect((await lines('score-text', '--fail', 'score:KeyError*1'))[3]).toContain('no rule matches');
  });

  it('accepts HTTP statuses with a retry_after, and notes the jitter', async () => {
    const printed = await lines('score', '--fail', 'score:http:429@7*1');
    expect(printed[0]).toBe('actor score, starting at 2026-01-01T12:00:00Z');
    expect(printed[3]).toBe(
      't+0 s | score | 1 of 2 | HTTPError 429 after 1 s, retry_after 7 s | rule 2 (http:429), policy "jittery": retried, next in 21 s (with jitter)',
    );
    expect(printed).toContain(
      'note | jitter is simulated as 5% of the delay, half of its maximum; --seed N draws it at random',
    );
    expect(printed).toContain('SLA | none: only flows have a timeout');
    expect((await lines('score', '--fail', 'score:http:429@1m*1'))[3]).toContain(
      'next in 1 min (retry_after)',
    );
  });

  it('draws the same jitter for the same seed', async () => {
    const seeded = await lines('score', '--fail', 'score:http:429*1', '--seed', '7');
    expect(seeded).toContain('note | jitter is drawn at random from seed 7');
    expect(await lines('score', '--fail', 'score:http:429*1', '--seed', '7')).toEqual(seeded);
    expect(await lines('score', '--fail', 'score:http:429*1', '--seed', '8')).not.toEqual(seeded);
  });

  it('prints consecutive waits in one row, and notes actors that are never called', async () => {
    const printed = await lines('slowly', '--fail', 'score:http:404', '--fail', 'store:crash');
    expect(printed.slice(3, 7)).toEqual([
      't+0 s | score | 1 of 2 | HTTPError 404 after 1 s | rule 3 (http:4xx), policy "far": retried, next in 40 min, in steps of 15 min, the maximum of SQS',
      't+15 min 1 s | score | not due yet (2 times) | due at t+40 min 1 s: resent, no attempt counted',
      't+40 min 1 s | score | 2 of 2 | HTTPError 404 after 1 s | rule 3 (http:4xx), policy "far": routed, 2 of 2 attempts used → review',
      't+40 min 2 s | review | 1 | value after 1 s | succeeded, end of route → x-sink',
    ]);
    expect(printed).toContain('SLA | none: the flow has no timeout');
    expect(printed).toContain('note | store is never called, so its --fail has no effect');
  });

  it.each([
    [
      'timeout',
      '30 s',
      'timed out: no rule matches a timeout, and the default policy never retries one → x-sink, ActorTimeout',
    ],
    [
      'Loud',
      '1 s',
      'rule 5 (Loud), policy "loud": escalated, only 1 attempt allowed → errors and x-sink, Escalated',
    ],
  ])('prints the decision for %s', async (error, after, why) => {
    const printed = await lines('score-text', '--fail', `score:${error}`);
    expect(printed[3]).toContain(why);
    expect(printed[4]).toMatch(`t+${after} | x-sink`);
  });

  it('prints a drop by the age in a header', async () => {
    const old = ['--header', 'event_time=2026-01-01T11:00:00Z'];
    const printed = await lines('score', '--fail', 'score:Old', ...old);
    expect(printed[3]).toContain('policy "old": dropped, expireAfter of 1 h exceeded → x-sink, Dropped');
    expect(printed).toContain(
      'end | failed, Dropped (Old), at score after 1 s; sent to x-sink; x-sink does not forward dropped envelopes',
    );
    expect((await lines('score', '--fail', 'score:Old', '--header', '_on_error=review'))[3]).toContain(
      'header _on_error → review',
    );
  });

  it.each([
    [['--take', '25s', '--fail', 'score:X'], 'missed at score: the 1 min ran out during the call'],
    [['--take', 'score=29s', '--take', 'store=32s'], 'missed at store: the 1 min ran out during the call'],
    [
      ['--take', 'score=27.5s', '--fail', 'score:X'],
      'missed at score: the retry was not sent, because it would arrive with less than 1 s of 1 min left',
    ],
    [
      ['--take', 'score=28.7s', '--fail', 'score:X*1'],
      'missed at store: it arrived with less than 1 s of 1 min left and was not processed',
    ],
  ])('prints how the deadline is missed: %j', async (args, verdict) => {
    expect(await lines('score-text', ...args)).toContain(`SLA | ${verdict}`);
  });

  it('prints the beginning and the end of a very long timeline', async () => {
    const printed = await lines('score', '--fail', 'score:Old', '--take', '20s');
    expect(printed).toContain('… 122 more rows; --json prints all of them');
    expect(printed.length).toBeLessThan(75);
    const endless = await lines('score', '--fail', 'score:Old', '--take', '0s');
    expect(endless).toContain('end | none: the simulation stopped after 20000 deliveries, at 0 s');
  });

  it('prints JSON', async () => {
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
    const printed = JSON.parse(out);
    expect(printed).toMatchObject({
      flow: 'score-text',
      route: ['score', 'store'],
      timeoutMs: 60_000,
      startsAt: '2026-05-01T00:00:00Z',
      seed: 1,
      end: { kind: 'ended', phase: 'succeeded', atMs: 5_000 },
      deadline: { verdict: 'met', spareMs: 55_000 },
      requests: { sends: 4, receives: 4, deletes: 4, total: 12 },
    });
    expect(printed.steps[0]).toMatchObject({
      actor: 'score',
      attempt: 1,
      call: { outcome: 'error', fault: { type: 'ValueError', mro: ['ValueError', 'Error', 'Exception'] } },
      decision: { kind: 'retries', by: { policy: 'default', maxAttempts: 4 }, delayMs: 1_500 },
    });
  });
});

describe('usage errors of asya simulate', () => {
  it.each([
    [['score-txt'], 'the mesh has no flow or actor "score-txt"; did you mean "score-text"?'],
    [['score', '--fail', 'scor:X'], '--fail "scor:X": the mesh has no actor "scor"; did you mean "score"?'],
    [['score', '--fail', 'x-sink:X'], '--fail "x-sink:X": the mesh has no actor "x-sink"'],
    [
      ['score', '--fail', 'score'],
      '--fail is "score"; expected ACTOR:ERROR*TIMES, e.g. "score:ValueError*3"',
    ],
    [['score', '--fail', 'score:*2'], '--fail is "score:*2"; expected ACTOR:ERROR*TIMES'],
    [['score', '--fail', 'score:X*0'], '--fail is "score:X*0"; "*0" fails no calls'],
    [['score', '--fail', 'score:X*two'], '--fail is "score:X*two"; the text after "*" is not a number'],
    [['score', '--fail', 'score:tiemout'], '"tiemout" is not an error type; did you mean "timeout"?'],
    [['score', '--fail', 'score:http503'], '"http503" is not an error type; did you mean "http:503"?'],
    [
      ['score', '--fail', 'score:http:200'],
      '"http:200" is not an HTTP error; expected "http:400" to "http:599"',
    ],
    [
      ['score', '--fail', 'score:http:429@soon'],
      '"@soon" is not a valid retry_after; expected seconds or a duration',
    ],
    [['score', '--fail', 'score:A<'], '"" is not an error type'],
    [['score', '--fail', 'score:A', '--fail', 'score:B'], '--fail "score:B" is never reached'],
    [['score', '--take', 'scor=1s'], '--take "scor=1s": the mesh has no actor "scor"; did you mean "score"?'],
    [['score', '--take', 'score=fast'], '--take is "score=fast"; expected ACTOR=DURATION or DURATION'],
    [['score', '--at', 'noon'], '--at is "noon"; expected an RFC 3339 time such as'],
    [['score', '--seed', 'x'], '--seed is "x"; expected a whole number of at most 9 digits, e.g. 7'],
    [['score', '--header', 'event_time'], '--header is "event_time"; expected NAME=VALUE'],
    [
      ['score', '--payload', '{a}'],
      '--payload is "{a}", which is neither JSON (unexpected "a" at line 1, column 2) nor a file',
    ],
    [['score', '--payload', 'score.yaml'], '--payload score.yaml is not JSON: unexpected "a"'],
  ])('are reported in one line: %j', async (args, message) => {
    const { status, out, err } = await simulate(...args);
    expect([status, out]).toEqual([2, '']);
    expect(err).toContain(message);
    expect(err).toMatch(/^asya: [^\n]+$/);
  });

  it('include a payload that SQS rejects, and an invalid mesh', async () => {
    const folder = aFolder({ ...MESH, 'large.json': `"${'x'.repeat(1024 * 1024)}"` });
    const large = await asya(folder, 'simulate', '.', 'score', '--payload', 'large.json');
    expect([large.status, large.err]).toEqual([
      2,
      expect.stringContaining('SQS rejects an envelope with this --payload'),
    ]);
    const wrong = await asya(aFolder({ 'a.yaml': actorText('a', 'url: nowhere') }), 'simulate', '.', 'a');
    expect([wrong.status, wrong.err]).toEqual([
      2,
      expect.stringMatching(/^asya: 1 mistake in the mesh\n {2}a\.yaml:6:3 spec\.url: /),
    ]);
    expect(await asya('/', 'simulate', '.')).toMatchObject({ status: 2, out: '' });
  });

  it('are explained by --help with examples', async () => {
    const { status, out } = await asya('/', 'simulate', '--help');
    expect(status).toBe(0);
    expect(out).toContain("asya simulate my-mesh score-text --fail 'score:ValueError*3'");
  });
});
