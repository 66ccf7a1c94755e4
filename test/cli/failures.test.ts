import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Fields, ids } from '../replay/a-replay.ts';
import { type Backend, startBackend } from './operator-fixture.ts';
import { asya } from './run-asya.ts';

let backend: Backend;
beforeAll(async () => {
  backend = await startBackend();
});
afterAll(() => backend.close());

const SECRET = 'payload of';

const A_TIMEOUT: Fields = {
  status: {
    actor: 'store',
    reason: 'Timeout',
    attempt: 1,
    max_attempts: undefined,
    decided_by: undefined,
    error: { type: 'DeadlineExceeded', mro: [], message: 'too late', traceback: '' },
  },
};

describe('asya failures', () => {
  it('prints groups, newest failure first', async () => {
    const { scene, cli } = await backend.newMesh();
    await scene.fail(ids(2, 'late'), A_TIMEOUT);
    await scene.fail(ids(3));
    const { status, out } = await cli('failures');
    expect(status).toBe(0);
    const [title, first, second, ...more] = out.split('\n');
    expect(title).toMatch(/^GROUP +OPEN +RESOLVED +REPLAYED +LAST +ACTOR +REASON +ERROR$/);
    expect(first).toMatch(
      /^[0-9a-f]{12} +3 +0 +0 +59m ago +score +PolicyExhausted +pkg\.ValueError: no such user: 17$/,
    );
    expect(second).toMatch(/^[0-9a-f]{12} +2 +0 +0 +59m ago +store +Timeout +DeadlineExceeded: too late$/);
    expect(more).toEqual([]);
  });

  it('prints an empty result without failures', async () => {
    const { cli } = await backend.newMesh();
    expect(await cli('failures')).toMatchObject({ status: 0, out: 'no failures' });
    expect(await cli('failures', 'list')).toMatchObject({ status: 0, out: 'no failures' });
    expect(JSON.parse((await cli('failures', '--json')).out)).toEqual([]);
    expect(await cli('failures', 'list', '--json')).toMatchObject({ status: 0, out: '' });
  });

  it('filters by group, actor, reason, flow and time, with options before or after the subcommand', async () => {
    const { scene, cli } = await backend.newMesh();
    await scene.fail(ids(2, 'late'), A_TIMEOUT);
    await scene.fail(['e-1'], { status: { updated_at: '2026-08-01T11:58:00Z' } });
    const listed = async (...argv: readonly string[]) =>
      (await cli('failures', ...argv)).out
        .split('\n')
        .slice(1)
        .map((line) => line.split(' ')[0]);
    expect(await listed('list')).toEqual(['e-1', 'late-1', 'late-0']);
    expect(await listed('list', '--actor', 'store')).toEqual(['late-1', 'late-0']);
    expect(await listed('--actor', 'store', 'list')).toEqual(['late-1', 'late-0']);
    expect(await listed('list', '--reason', 'PolicyExhausted')).toEqual(['e-1']);
    expect(await listed('list', '--flow', 'scores')).toHaveLength(3);
    expect(await listed('list', '--flow', 'none')).toEqual([]);
    expect(await listed('list', '--since', '5m')).toEqual(['e-1']);
    for (const since of ['2h', '1.5h', '7d', '2026-08-01T10:00:00Z', '99999999999999d'])
      expect(await listed('list', '--since', since), since).toHaveLength(3);
    const [group] = (await scene.entriesOf('e-1')).map(({ fingerprint }) => fingerprint);
    expect(await listed('list', '--group', group ?? '')).toEqual(['e-1']);
  });

  it('prints whole ids up to 100 columns', async () => {
    const { scene, cli } = await backend.newMesh();
    const hash = 'f'.repeat(64);
    await scene.fail([hash, 'x'.repeat(101)]);
    for (const command of [
      ['failures', 'list'],
      ['replay', '--all'],
    ]) {
      const [, first, second] = (await cli(...command)).out.split('\n');
      expect(first).toMatch(/^x{99}… /);
      expect(second?.split(' ')[0]).toBe(hash);
    }
  });

  it('prints JSON: groups as a list, failures one per line', async () => {
    const { scene, cli } = await backend.newMesh();
    await scene.fail(ids(2));
    const groups = JSON.parse((await cli('failures', '--json')).out);
    expect(groups).toMatchObject([
      {
        count: 2,
        open: 2,
        resolved: 0,
        replayed: 0,
        actor: 'score',
        reasons: ['PolicyExhausted'],
        flows: ['scores'],
      },
    ]);
    const lines = (await cli('failures', 'list', '--json')).out.split('\n').map((line) => JSON.parse(line));
    expect(lines).toMatchObject([
      {
        envelopeId: 'e-1',
        group: groups[0].group,
        lastSeen: '2026-08-01T11:00:02Z',
        attempts: 3,
        replays: [],
      },
      { envelopeId: 'e-0' },
    ]);
  });

  it('rejects usage errors with a helpful message', async () => {
    const { cli } = await backend.newMesh();
    const refusals: readonly (readonly [readonly string[], RegExp])[] = [
      [['failures', '--since', 'yesterday'], /--since is "yesterday".*"1h30m".*7d.*2026-01-01T00:00:00Z/],
      [['failures', '--sinse', '1h'], /unknown option '--sinse'\n\(Did you mean --since\?\)/],
      [['failures', 'e-1'], /"e-1" is not a subcommand of asya failures.*asya failures show ID/],
      [['failures', 'show'], /missing required argument 'id'/],
      [['failrues'], /unknown command 'failrues'\n\(Did you mean failures\?\)/],
      [[], /Usage: asya/],
    ];
    for (const [argv, message] of refusals) {
      const run = await cli(...argv);
      expect(run.status, argv.join(' ')).toBe(2);
      expect(run.err, argv.join(' ')).toMatch(message);
      expect(run.out).toBe('');
    }
    expect(await cli('--help')).toMatchObject({
      status: 0,
      err: '',
      out: expect.stringContaining('replay'),
    });
  });

  it('reports that the table is down, and exits with 1', async () => {
    const { variables } = await backend.newMesh();
    const env = { ...variables, ASYA_FAILURE_TABLE: 'no-such-table' };
    for (const argv of [
      ['failures'],
      ['failures', 'list'],
      ['failures', 'show', 'e'],
      ['replay', 'e'],
      ['purge', 'e'],
    ]) {
      const run = await asya(argv, { env });
      expect(run).toMatchObject({ status: 1, out: '' });
      expect(run.err).toMatch(/^asya: DynamoDB request failed: .*"no-such-table"/);
    }
  });
});

describe('asya failures show', () => {
  it('prints route, times, deciding policy, end of the traceback, and the next commands', async () => {
    const { scene, cli } = await backend.newMesh();
    const traceback = `Traceback (most recent call last):\n${'  File "/app/score.py", line 7, in score\n'.repeat(20)}ValueError: no such user: 17`;
    await scene.fail(['e-1'], {
      headers: { 'x-asya-flow': 'scores', 'x-asya-task': 't-1' },
      status: { error: { type: 'pkg.ValueError', mro: [], message: 'no such user: 17', traceback } },
    });
    const { status, out } = await cli('failures', 'show', 'e-1');
    expect(status).toBe(0);
    expect(out.split('\n')).toEqual([
      'e-1  failed at score · exhausted (PolicyExhausted) · attempt 3 of 3',
      '',
      'route       fetch ✓ → score ✗ → store',
      'failed      2026-08-01T11:00:01Z (59m ago)',
      'first seen  2026-08-01T11:00:01Z (59m ago)',
      'deadline    2026-08-01T11:00:01Z',
      'flow        scores',
      'task        t-1',
      expect.stringMatching(/^group {7}[0-9a-f]{12}$/),
      'decided by  rule 1, policy "slow"',
      'error       pkg.ValueError: no such user: 17',
      '            … 10 earlier lines',
      ...Array.from({ length: 11 }, () => '              File "/app/score.py", line 7, in score'),
      '            ValueError: no such user: 17',
      'archive     failed/2026-08-01/score/e-1.json',
      'payload     33 bytes; --payload prints it',
      '',
      'replay it:  asya replay e-1   (add --go to send it)',
      expect.stringMatching(/^its group: {2}asya replay --group [0-9a-f]{12}$/),
    ]);
  });

  it.each([
    [{ decided_by: { policy: 'default' } }, 'no rule matches, policy "default"\n'],
    [
      { decided_by: { policy: 'connection' }, reason: 'RuntimeError' },
      'no rule matches, built-in policy "connection"\n',
    ],
    [
      { decided_by: { policy: 'default' }, reason: 'Timeout', attempt: 1 },
      'no rule matches, policy "default"; SLA expired: the retry would have missed the deadline',
    ],
    [
      { decided_by: { policy: 'slow', rule: 0 }, reason: 'RuntimeError', attempt: 1 },
      'rule 1, policy "slow"; the retry could not be sent',
    ],
    [{ decided_by: undefined, reason: 'RuntimeError' }, 'no policy matches'],
    [{ decided_by: undefined, reason: 'Timeout' }, 'the deadline (SLA)'],
    [
      { decided_by: undefined, reason: 'DeliveryExhausted' },
      'the broker: received the maximum number of times',
    ],
    [{ decided_by: undefined, reason: 'PolicyExhausted' }, 'unknown: the envelope has no status.decided_by'],
    [{ decided_by: undefined, reason: 'toString' }, 'unknown: the envelope has no status.decided_by'],
    [
      { decided_by: undefined, reason: 'RuntimeError', error: { type: 'HopBudgetExceeded', message: 'no' } },
      'admission: the envelope passed the maximum number of actors',
    ],
  ])('prints what made the decision: %j', async (status, decidedBy) => {
    const { scene, cli } = await backend.newMesh();
    await scene.fail(['e-1'], { status });
    expect((await cli('failures', 'show', 'e-1')).out).toContain(`decided by  ${decidedBy}`);
  });

  it('prints the outcome of replays, and earlier failures', async () => {
    const { scene, cli } = await backend.newMesh();
    await scene.fail(['e-1']);
    await scene.replay(await scene.select(), { replay: 'r-1' }, { fate: () => ({ end: 'failed' }) });
    await scene.replay(await scene.select(), { replay: 'r-2' });
    await scene.replay(
      await scene.select(),
      { replay: 'r-3', again: true, waitMs: 0 },
      { fate: () => 'none' },
    );
    const { out } = await cli('failures', 'show', 'e-1');
    expect(out).toMatch(/^part of {5}replay r-1$/m);
    expect(out).toMatch(/^replayed {4}.* to score, r-2: succeeded$/m);
    expect(out).toMatch(/^replayed {4}.* to score, r-3: not ended yet$/m);
    expect(out).toMatch(/^earlier {5}PolicyExhausted at score, 2026-08-01T11:00:01Z \(59m ago\)$/m);
    expect(out).not.toContain('replay it:');
    const json = JSON.parse((await cli('failures', 'show', 'e-1', '--json')).out);
    expect(json).toMatchObject({
      envelopeId: 'e-1',
      route: { curr: 'score' },
      status: { decided_by: { policy: 'slow', rule: 0 } },
      replays: [{ replay: 'r-2', end: 'succeeded' }, { replay: 'r-3' }],
      earlier: [{ replays: [{ replay: 'r-1' }] }],
    });
    expect(json).not.toHaveProperty('payload');
  });

  it('prints the index entry if the archived envelope is missing or broken', async () => {
    const { scene, cli } = await backend.newMesh();
    await scene.fail(['lost', 'broken']);
    const keyOf = async (id: string) => (await scene.entriesOf(id))[0]?.archiveKey ?? '';
    await scene.stores.archive.remove(await keyOf('lost'));
    await scene.stores.archive.put(await keyOf('broken'), `{"${SECRET}":`);
    const lost = await cli('failures', 'show', 'lost', '--payload');
    expect(lost.status).toBe(0);
    expect(lost.out).toContain('envelope    the archive no longer contains this key');
    expect(lost.out).toContain('decided by  unknown: the envelope cannot be read');
    expect(lost.out).toContain('error       pkg.ValueError: no such user: 17');
    const broken = await cli('failures', 'show', 'broken');
    expect(broken.out).toContain('envelope    the archived envelope cannot be read: the body is not JSON');
    expect(broken.raw).not.toContain(SECRET);
    expect(JSON.parse((await cli('failures', 'show', 'lost', '--json', '--payload')).out)).toMatchObject({
      problem: 'the archive no longer contains this key',
    });
  });

  it('exits with 1 for an envelope without a failure', async () => {
    const { cli } = await backend.newMesh();
    expect(await cli('failures', 'show', 'missing')).toMatchObject({
      status: 1,
      out: '',
      err: 'asya: no failure of envelope "missing" was found; `asya failures list --json` prints the full ids',
    });
    expect((await cli('failures', 'show', 'e')).err).toContain(
      'the start of an id needs at least 4 characters',
    );
  });

  it('quotes ids in commands to paste', async () => {
    const { scene, cli } = await backend.newMesh();
    const all = ["x'; rm -rf ~ #", '$(reboot)', '--all', 'a b'];
    await scene.fail(all);
    const hintOf = async (id: string) =>
      (await cli('failures', 'show', '--', id)).out.split('\n').find((line) => line.startsWith('replay it:'));
    expect(await hintOf("x'; rm -rf ~ #")).toContain(`asya replay 'x'\\''; rm -rf ~ #'   (`);
    expect(await hintOf('$(reboot)')).toContain(`asya replay '$(reboot)'`);
    expect(await hintOf('--all')).toContain(`asya replay -- '--all'   (put --go before the -- to send it)`);
    expect(await hintOf('a b')).toContain(`asya replay 'a b'`);
    expect((await cli('replay', '--', '--all')).out).toMatch(/^ENVELOPE.*\n--all /);
  });
});
