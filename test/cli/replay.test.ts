import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { ids } from '../replay/a-replay.ts';
import { freePort } from '../sidecar/free-port.ts';
import { endProcesses, temporaryFolder } from '../sidecar/sidecar-process.ts';
import { type DenyingSqs, startDenyingSqs } from '../support/denying-sqs.ts';
import { type Backend, NOW, startBackend } from './operator-fixture.ts';
import { asya } from './run-asya.ts';

let backend: Backend;
beforeAll(async () => {
  backend = await startBackend();
});
afterAll(async () => {
  await endProcesses();
  await backend.close();
});

describe('asya replay', () => {
  it('without --go prints what would be sent, and changes nothing', async () => {
    const { scene, cli } = await backend.newMesh();
    await scene.fail(ids(23));
    const { status, out, err } = await cli('replay', '--all');
    expect(status).toBe(0);
    const lines = out.split('\n');
    expect(lines[0]).toMatch(/^ENVELOPE +FAILED AT +TO +DEADLINE +BYTES$/);
    expect(lines[1]).toMatch(/^e-22 +score +score +none +\d+$/);
    expect(lines).toHaveLength(22);
    expect(lines.at(-1)).toBe('… and 3 more');
    expect(err.trim()).toMatch(/^Nothing was sent\. --go sends 23: one first, then ten, .*$/);
    expect(await backend.engines.sqs.take('score')).toEqual([]);
    expect((await scene.entriesOf('e-1'))[0]?.replays).toEqual([]);
    expect((await cli('replay', '--all', '--dry-run')).out).toBe(out);
  });

  it('sends once with --go; the second time it skips all, reports it, and exits with 1', async () => {
    const { scene, cli } = await backend.newMesh();
    await scene.fail(ids(2));
    const first = await cli('replay', '--all', '--go', '--no-ramp', '--timeout', '5m');
    expect(first).toMatchObject({ status: 0, out: '' });
    expect(first.err).toMatch(
      /^replay r-[0-9a-f]{12}: 2 envelopes\nsent 1 of 2, 0 ended\nsent 2 of 2, 0 ended\ndone: 2 sent, 0 skipped, 0 left$/,
    );
    const taken = await backend.engines.sqs.takeUntil('score', 2);
    expect(JSON.parse(taken[0]?.Body ?? '')).toMatchObject({
      status: { deadline_at: '2026-08-01T12:05:00Z' },
    });
    const second = await cli('replay', '--all', '--go');
    expect(second.status).toBe(1);
    expect(second.err).toContain('not sent: 2 were replayed before; --again sends them again');
    const dry = await cli('replay', '--all');
    expect(dry.out).toMatch(/not sent: it was replayed before \(r-[0-9a-f]{12}\); --again sends it again/);
    expect(dry.err).toContain('--go would send nothing either');
    const third = await cli('replay', '--all', '--go', '--again', '--no-ramp', '--json');
    expect(JSON.parse(third.out)).toMatchObject({
      why: 'all-sent',
      sent: ['e-1', 'e-0'],
      skipped: [],
      left: [],
    });
    await backend.engines.sqs.takeUntil('score', 2);
  });

  it('exits with 3 if envelopes do not end in time', async () => {
    const { scene, cli } = await backend.newMesh();
    await scene.fail(ids(3));
    const { status, err } = await cli('replay', '--all', '--go', '--wait', '0s');
    expect(status).toBe(3);
    expect(err).toContain(
      'stopped: 1 of the sent envelopes did not end within 0s; 1 sent, 0 succeeded, 0 failed again, 0 skipped, 2 left',
    );
    await backend.engines.sqs.takeUntil('score', 1);
  });

  it('reports where Ctrl-C stopped it, and exits with 130', async () => {
    const { scene, variables } = await backend.newMesh();
    await scene.fail(ids(3));
    const run = await asya(['replay', '--all', '--go'], { env: variables, stop: AbortSignal.abort() });
    expect(run.status).toBe(130);
    expect(run.err).toContain('interrupted: 0 sent');
    expect(run.err).toContain('the next would have been e-2');
  });

  describe('when the queue of an actor is missing', () => {
    const NO_QUEUE =
      'not sent: 22 for "nowhere" (queue "nowhere" does not exist): deploy the actor, or name another with --to';

    async function meshWithFailures() {
      const mesh = await backend.newMesh();
      await mesh.scene.fail(['good']);
      await mesh.scene.fail(ids(22), { status: { actor: 'nowhere' } });
      return mesh;
    }

    it('a dry run reports the target, the count and the fix, and exits with 1', async () => {
      const { cli } = await meshWithFailures();
      const { status, out, err } = await cli('replay', '--all');
      expect(status).toBe(1);
      expect(out.split('\n')[1]).toMatch(
        /^e-21 +nowhere +- +- +- +not sent: queue "nowhere" does not exist$/,
      );
      expect(err).toContain(NO_QUEUE);
      expect(err).toContain('Nothing was sent. --go sends 1.');
      const json = await cli('replay', '--all', '--json');
      expect(json.status).toBe(1);
      const rows = JSON.parse(json.out) as readonly object[];
      expect(rows).toHaveLength(23);
      expect(rows[0]).toEqual({
        id: 'e-21',
        failedAt: 'nowhere',
        problem: 'queue "nowhere" does not exist',
        withoutQueue: 'nowhere',
      });
      expect(rows.at(-1)).toMatchObject({ id: 'good', to: 'score' });
    });

    it('the others are sent; the rest is reported, does not count as replayed, and the exit status is 1', async () => {
      const { scene, cli } = await meshWithFailures();
      const { status, err } = await cli('replay', '--all', '--go', '--no-ramp');
      expect(status).toBe(1);
      expect(err.match(/not sent:/g)).toHaveLength(1);
      expect(err).toContain(NO_QUEUE);
      expect(err).toContain('done: 1 sent, 22 skipped, 0 left');
      const [taken] = await backend.engines.sqs.takeUntil('score', 1);
      expect(JSON.parse(taken?.Body ?? '')).toMatchObject({ id: 'good' });
      expect((await scene.entriesOf('e-1'))[0]?.replays).toEqual([]);
      const rest = await cli('replay', '--all', '--go', '--json');
      expect(rest.status).toBe(1);
      expect(JSON.parse(rest.out)).toMatchObject({ why: 'all-sent', sent: [] });
      expect(JSON.parse(rest.out).skipped).toContainEqual({
        id: 'e-1',
        problem: 'queue "nowhere" does not exist',
        withoutQueue: 'nowhere',
      });
      expect(await cli('replay', 'e-1', '--to', 'score')).toMatchObject({ status: 0 });
    });
  });

  describe('when SQS denies access to one target', () => {
    const DENIED = 'AccessDeniedException: User: operator is not authorized to perform: ';

    async function meshWithFailures(...denials: readonly Parameters<DenyingSqs['deny']>[]) {
      const { scene, variables } = await backend.newMesh();
      const { endpoint } = backend.engines.sqs;
      const sqs = await startDenyingSqs(endpoint);
      onTestFinished(() => sqs.close());
      await backend.engines.sqs.createQueue('locked');
      for (const [action, queue] of denials) sqs.deny(action, queue);
      await scene.fail(['good']);
      await scene.fail(ids(3), { status: { actor: 'locked' } });
      const env = { ...variables, ASYA_SQS_ENDPOINT: sqs.endpoint };
      return { scene, cli: (...argv: readonly string[]) => asya(argv, { env, now: () => NOW }) };
    }

    it('at the look-up, a dry run reports the target, the count and the fix, and exits with 1', async () => {
      const { cli } = await meshWithFailures(['GetQueueUrl', 'locked']);
      const { status, out, err } = await cli('replay', '--all');
      expect(status).toBe(1);
      expect(out.split('\n')[1]).toMatch(
        /^e-2 +locked +- +- +- +not sent: cannot check the queue of "locked": AccessDenied/,
      );
      expect(err).toContain(
        `not sent: 3 for "locked" (cannot check the queue of "locked": ${DENIED}sqs:GetQueueUrl on resource: locked (queue "locked")): fix this and run the same command again, or name another actor with --to`,
      );
      expect(err).toContain('Nothing was sent. --go sends 1.');
      const json = await cli('replay', '--all', '--json');
      expect(json.status).toBe(1);
      expect(JSON.parse(json.out)[0]).toEqual({
        id: 'e-2',
        failedAt: 'locked',
        problem: expect.stringContaining(DENIED),
        refusedAt: 'locked',
      });
    });

    it('at the send, the others are sent; it reports the failures that were not sent, and exits with 1', async () => {
      const { scene, cli } = await meshWithFailures(['SendMessageBatch', 'locked']);
      const { status, err } = await cli('replay', '--all', '--go', '--no-ramp');
      expect(err).toContain(`not sent: 3 for "locked" (${DENIED}sqs:SendMessageBatch on resource: locked`);
      expect(err.match(/not sent:/g)).toHaveLength(1);
      expect(err).toContain('done: 1 sent, 3 skipped, 0 left');
      expect(status).toBe(1);
      const [taken] = await backend.engines.sqs.takeUntil('score', 1);
      expect(JSON.parse(taken?.Body ?? '')).toMatchObject({ id: 'good' });
      expect(await backend.engines.sqs.take('locked')).toEqual([]);
      for (const id of ids(3)) expect((await scene.entriesOf(id))[0]?.replays).toEqual([]);
    });

    it('in JSON, each failure that was not sent names the target', async () => {
      const { cli } = await meshWithFailures(['SendMessageBatch', 'locked']);
      const { status, out } = await cli('replay', '--all', '--go', '--no-ramp', '--json');
      expect(status).toBe(1);
      expect(JSON.parse(out)).toMatchObject({ why: 'all-sent', sent: ['good'], left: [] });
      expect(JSON.parse(out).skipped).toContainEqual({
        id: 'e-0',
        problem: expect.stringContaining(DENIED),
        refusedAt: 'locked',
      });
      await backend.engines.sqs.takeUntil('score', 1);
    });

    it('when SQS denies access to every target, the replay stops with an error', async () => {
      const { scene, cli } = await meshWithFailures(
        ['SendMessageBatch', 'locked'],
        ['SendMessageBatch', 'score'],
      );
      const { status, err } = await cli('replay', '--all', '--go');
      expect(status).toBe(1);
      expect(err).toContain(`stopped: good could not be sent: ${DENIED}sqs:SendMessageBatch`);
      expect(err).toContain('0 sent, 0 succeeded, 0 failed again, 3 skipped, 1 left');
      for (const id of ['good', ...ids(3)]) expect((await scene.entriesOf(id))[0]?.replays).toEqual([]);
    });
  });

  it('exits with 1 if the archive is down, and reports it once', async () => {
    const { scene, cli } = await backend.newMesh();
    await scene.fail(ids(3));
    await backend.engines.s3.goDown();
    const dry = await cli('replay', '--all');
    const real = await cli('replay', '--all', '--go');
    await backend.engines.s3.recover();
    expect(dry).toMatchObject({ status: 1, out: '' });
    expect(dry.err.match(/S3 request failed/g)).toHaveLength(1);
    expect(real.status).toBe(1);
    expect(real.err).toContain('S3 request failed');
    expect((await scene.entriesOf('e-1'))[0]?.replays).toEqual([]);
  });

  it('lists the first envelopes that could not be sent, and exits with 1', async () => {
    const { scene, cli } = await backend.newMesh();
    await scene.fail(ids(8), { payload: {} });
    await scene.fail(['good']);
    const patch = '[{"op":"replace","path":"/n","value":2}]';
    const { status, err } = await cli('replay', '--all', '--patch', patch, '--go', '--no-ramp');
    expect(status).toBe(1);
    expect(err.match(/not sent: e-\d: operation 1 of the patch \(replace\)/g)).toHaveLength(5);
    expect(err).toContain('not sent: … and 3 more');
    expect(err).toContain('done: 1 sent, 8 skipped, 0 left');
    expect(
      JSON.parse((await backend.engines.sqs.takeUntil('score', 1))[0]?.Body ?? '').payload,
    ).toMatchObject({
      n: 2,
    });
  });

  it('reads the patch from a file', async () => {
    const { scene, cli } = await backend.newMesh();
    await scene.fail(['e-1']);
    const file = join(await temporaryFolder(), 'patch.json');
    writeFileSync(file, '[{"op":"add","path":"/m","value":12345678901234567890}]');
    expect((await cli('replay', 'e-1', '--patch', file, '--payload')).out).toContain(
      '"m":12345678901234567890}',
    );
    expect((await cli('replay', 'e-1', '--patch', file, '--payload', '--json')).out).toContain(
      '"m":12345678901234567890}',
    );
  });

  it('rejects usage errors with a helpful message', async () => {
    const { scene, cli } = await backend.newMesh();
    await scene.fail(['e-1']);
    const refusals: readonly (readonly [readonly string[], number, RegExp])[] = [
      [[], 2, /no failures selected; pass ids, a filter \(--group/],
      [['--go'], 2, /no failures selected/],
      [['e-1', '--all'], 2, /pass either ids or a filter, not both/],
      [['e-1', '--go', '--dry-run'], 2, /pass either --go or --dry-run, not both/],
      [['e-1', '--rate', '0'], 2, /--rate is "0"; expected a number above 0/],
      [['e-1', '--rate', 'fast'], 2, /--rate is "fast"/],
      [['e-1', '--wait', 'long'], 2, /--wait is "long".*"5m"/],
      [
        ['e-1', '--timeout', '1s'],
        2,
        /--timeout is "1s"; expected more than 1s, because actors reject envelopes with less time left/,
      ],
      [['e-1', '--to', 'x-sink'], 2, /--to is "x-sink".*must not start with "x-"/],
      [['e-1', '--to', 'Score_2'], 2, /--to is "Score_2"; an actor's name is/],
      [['e-1', '--patch', '{"op":"add"}'], 2, /--patch: expected a JSON array like/],
      [['e-1', '--patch', '[{"op":"put"}]'], 2, /--patch: operation 1 of the patch: op is "put"/],
      [['e-1', '--patch', 'missing.json'], 2, /--patch: ENOENT.*missing\.json/],
      [['e-1', 'missing', '--go'], 1, /no failures found for "missing"; nothing was sent/],
      [
        ['--group', 'ffffffffffff', '--go'],
        1,
        /no failures match \(resolved ones are not replayed\); `asya failures --all` lists/,
      ],
    ];
    for (const [argv, status, message] of refusals) {
      const run = await cli('replay', ...argv);
      expect(run.status, argv.join(' ')).toBe(status);
      expect(run.err, argv.join(' ')).toMatch(message);
    }
    expect((await scene.entriesOf('e-1'))[0]?.replays).toEqual([]);
  });

  it('reports an unreachable broker, and replays nothing', async () => {
    const { scene, variables } = await backend.newMesh();
    await scene.fail(['e-1']);
    const port = await freePort();
    const env = { ...variables, ASYA_TRANSPORT: 'rabbitmq', ASYA_RABBITMQ_URL: `amqp://127.0.0.1:${port}/` };
    for (const more of [[], ['--go']]) {
      const run = await asya(['replay', 'e-1', ...more], { env });
      expect(run).toMatchObject({ status: 1, out: '', err: expect.stringContaining('ECONNREFUSED') });
    }
    expect((await scene.entriesOf('e-1'))[0]?.replays).toEqual([]);
  });
});

describe('asya purge', () => {
  it('requests confirmation, and does nothing without it', async () => {
    const { scene, variables } = await backend.newMesh();
    await scene.fail(ids(3));
    const no = await asya(['purge', '--all'], { env: variables, answers: false });
    expect(no).toMatchObject({ status: 1, err: 'asya: nothing was purged' });
    expect(no.questions).toEqual([
      'Purge 3 failures (3 never replayed)? They cannot be replayed after that.',
    ]);
    expect(await scene.select()).toHaveLength(3);
    const yes = await asya(['purge', 'e-1'], { env: variables, answers: true });
    expect(yes).toMatchObject({ status: 0, err: 'purged 1 failure' });
    expect(await scene.select()).toHaveLength(2);
  });

  it('requires --yes if not interactive', async () => {
    const { scene, cli } = await backend.newMesh();
    await scene.fail(ids(2));
    const refused = await cli('purge', '--all');
    expect(refused).toMatchObject({
      status: 2,
      err: expect.stringContaining('pass --yes when not running interactively'),
    });
    expect(await scene.select()).toHaveLength(2);
    expect(await cli('purge', '--all', '--yes')).toMatchObject({ status: 0, err: 'purged 2 failures' });
    expect(await scene.select()).toEqual([]);
  });

  it('deletes the archived envelopes only with --archive', async () => {
    const { scene, cli } = await backend.newMesh();
    await scene.fail(ids(2));
    const keys = await Promise.all(
      ids(2).map(async (id) => (await scene.entriesOf(id))[0]?.archiveKey ?? ''),
    );
    const archiveStates = () => Promise.all(keys.map(async (key) => scene.stores.archive.has(key)));
    await cli('purge', 'e-0', '--yes');
    expect(await archiveStates()).toMatchObject([{ exists: true }, { exists: true }]);
    const run = await cli('purge', 'e-1', '--yes', '--archive');
    expect(run.err).toBe('purged 1 failure and the archived envelopes');
    expect(await archiveStates()).toMatchObject([{ exists: true }, { exists: false }]);
  });

  it('reports unknown envelopes, and where it stopped', async () => {
    const { scene, cli } = await backend.newMesh();
    await scene.fail(['e-1']);
    expect(await cli('purge')).toMatchObject({
      status: 2,
      err: expect.stringContaining('no failures selected'),
    });
    expect(await cli('purge', 'missing', 'e-1', '--yes')).toMatchObject({
      status: 1,
      err: 'asya: no failures found for "missing"; nothing was purged',
    });
    expect(await cli('purge', '--actor', 'none', '--yes')).toMatchObject({
      status: 1,
      err: expect.stringContaining('nothing was purged'),
    });
    await backend.engines.s3.goDown();
    const run = await cli('purge', 'e-1', '--yes', '--archive');
    await backend.engines.s3.recover();
    expect(run).toMatchObject({
      status: 1,
      err: expect.stringMatching(/S3 request failed.*0 of 1 were purged/),
    });
    expect(await scene.select()).toHaveLength(1);
  });
});
