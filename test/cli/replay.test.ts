import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { ids } from '../replay/a-replay.ts';
import { freePort } from '../sidecar/free-port.ts';
import { endProcesses, temporaryFolder } from '../sidecar/sidecar-process.ts';
import { type DenyingSqs, startDenyingSqs } from '../support/denying-sqs.ts';
import { NOW, type Office, openOffice } from './a-cli.ts';
import { asya } from './a-terminal.ts';

/** `asya replay` and `asya purge`: what they do, say and end with. */

let office: Office;
beforeAll(async () => {
  office = await openOffice();
});
afterAll(async () => {
  await endProcesses();
  await office.close();
});

describe('asya replay', () => {
  it('without --go prints what would be sent, sends nothing and notes nothing', async () => {
    const { scene, type } = await office.desk();
    await scene.fail(ids(23));
    const { status, out, err } = await type('replay', '--all');
    expect(status).toBe(0);
    const lines = out.split('\n');
    expect(lines[0]).toMatch(/^ENVELOPE +FAILED AT +TO +DEADLINE +BYTES$/);
    expect(lines[1]).toMatch(/^e-22 +score +score +none +\d+$/);
    expect(lines).toHaveLength(22);
    expect(lines.at(-1)).toBe('… and 3 more');
    expect(err.trim()).toMatch(/^Nothing was sent\. --go sends 23: one first, then ten, .*$/);
    expect(await office.engines.sqs.take('score')).toEqual([]);
    expect((await scene.entriesOf('e-1'))[0]?.replays).toEqual([]);
    expect((await type('replay', '--all', '--dry-run')).out).toBe(out);
  });

  it('sends with --go, once; the second time it is skipped, told, and ends with 1', async () => {
    const { scene, type } = await office.desk();
    await scene.fail(ids(2));
    const first = await type('replay', '--all', '--go', '--no-ramp', '--timeout', '5m');
    expect(first).toMatchObject({ status: 0, out: '' });
    expect(first.err).toMatch(
      /^replay r-[0-9a-f]{12}: 2 envelopes\nsent 1 of 2, 0 ended\nsent 2 of 2, 0 ended\ndone: 2 sent, 0 skipped, 0 left$/,
    );
    const taken = await office.engines.sqs.takeUntil('score', 2);
    expect(JSON.parse(taken[0]?.Body ?? '')).toMatchObject({
      status: { deadline_at: '2026-08-01T12:05:00Z' },
    });
    const second = await type('replay', '--all', '--go');
    expect(second.status).toBe(1);
    expect(second.err).toContain('not sent: 2 were replayed before; --again sends them once more');
    const dry = await type('replay', '--all');
    expect(dry.out).toMatch(
      /not sent: it was replayed before \(r-[0-9a-f]{12}\); --again sends it once more/,
    );
    expect(dry.err).toContain('--go would send nothing either');
    const third = await type('replay', '--all', '--go', '--again', '--no-ramp', '--json');
    expect(JSON.parse(third.out)).toMatchObject({
      why: 'all-sent',
      sent: ['e-1', 'e-0'],
      skipped: [],
      left: [],
    });
    await office.engines.sqs.takeUntil('score', 2);
  });

  it('stops by itself with 3 where there is no end in time', async () => {
    const { scene, type } = await office.desk();
    await scene.fail(ids(3));
    const { status, err } = await type('replay', '--all', '--go', '--wait', '0s');
    expect(status).toBe(3);
    expect(err).toContain(
      'stopped: 1 of those sent have no end within 0s; 1 sent, 0 ended well, 0 failed again, 0 skipped, 2 left',
    );
    await office.engines.sqs.takeUntil('score', 1);
  });

  it('stopped by Ctrl-C it says where, and ends with 130', async () => {
    const { scene, variables } = await office.desk();
    await scene.fail(ids(3));
    const run = await asya(['replay', '--all', '--go'], { env: variables, stop: AbortSignal.abort() });
    expect(run.status).toBe(130);
    expect(run.err).toContain('stopped as you asked: 0 sent');
    expect(run.err).toContain('the next would have been e-2');
  });

  describe('where an actor has no queue any more', () => {
    const NO_QUEUE =
      'not sent: 22 for "nowhere" (there is no queue "nowhere"): deploy the actor, or name another with --to';

    async function aDesk() {
      const desk = await office.desk();
      await desk.scene.fail(['good']);
      await desk.scene.fail(ids(22), { status: { actor: 'nowhere' } });
      return desk;
    }

    it('a dry run tells which, how many and what to do, and ends with 1', async () => {
      const { type } = await aDesk();
      const { status, out, err } = await type('replay', '--all');
      expect(status).toBe(1);
      expect(out.split('\n')[1]).toMatch(/^e-21 +nowhere +- +- +- +not sent: there is no queue "nowhere"$/);
      expect(err).toContain(NO_QUEUE);
      expect(err).toContain('Nothing was sent. --go sends 1.');
      const json = await type('replay', '--all', '--json');
      expect(json.status).toBe(1);
      const rows = JSON.parse(json.out) as readonly object[];
      expect(rows).toHaveLength(23);
      expect(rows[0]).toEqual({
        id: 'e-21',
        failedAt: 'nowhere',
        problem: 'there is no queue "nowhere"',
        withoutQueue: 'nowhere',
      });
      expect(rows.at(-1)).toMatchObject({ id: 'good', to: 'score' });
    });

    it('the others are sent; what was left is told, ends with 1 and does not count as replayed', async () => {
      const { scene, type } = await aDesk();
      const { status, err } = await type('replay', '--all', '--go', '--no-ramp');
      expect(status).toBe(1);
      expect(err.match(/not sent:/g)).toHaveLength(1);
      expect(err).toContain(NO_QUEUE);
      expect(err).toContain('done: 1 sent, 22 skipped, 0 left');
      const [taken] = await office.engines.sqs.takeUntil('score', 1);
      expect(JSON.parse(taken?.Body ?? '')).toMatchObject({ id: 'good' });
      expect((await scene.entriesOf('e-1'))[0]?.replays).toEqual([]);
      const rest = await type('replay', '--all', '--go', '--json');
      expect(rest.status).toBe(1);
      expect(JSON.parse(rest.out)).toMatchObject({ why: 'all-sent', sent: [] });
      expect(JSON.parse(rest.out).skipped).toContainEqual({
        id: 'e-1',
        problem: 'there is no queue "nowhere"',
        withoutQueue: 'nowhere',
      });
      expect(await type('replay', 'e-1', '--to', 'score')).toMatchObject({ status: 0 });
    });
  });

  describe('when SQS denies access to one target', () => {
    const DENIED = 'AccessDeniedException: User: operator is not authorized to perform: ';

    async function aDesk(...denials: readonly Parameters<DenyingSqs['deny']>[]) {
      const { scene, variables } = await office.desk();
      const { endpoint } = office.engines.sqs;
      const sqs = await startDenyingSqs(endpoint);
      onTestFinished(() => sqs.close());
      await office.engines.sqs.createQueue('locked');
      for (const [action, queue] of denials) sqs.deny(action, queue);
      await scene.fail(['good']);
      await scene.fail(ids(3), { status: { actor: 'locked' } });
      const env = { ...variables, ASYA_SQS_ENDPOINT: sqs.endpoint };
      return { scene, type: (...argv: readonly string[]) => asya(argv, { env, now: () => NOW }) };
    }

    it('at the look-up, a dry run reports the target, the count and the fix, and exits with 1', async () => {
      const { type } = await aDesk(['GetQueueUrl', 'locked']);
      const { status, out, err } = await type('replay', '--all');
      expect(status).toBe(1);
      expect(out.split('\n')[1]).toMatch(
        /^e-2 +locked +- +- +- +not sent: the queue of "locked" cannot be looked up: AccessDenied/,
      );
      expect(err).toContain(
        `not sent: 3 for "locked" (the queue of "locked" cannot be looked up: ${DENIED}sqs:GetQueueUrl on resource: locked (queue "locked")): fix this and run the same command again, or name another actor with --to`,
      );
      expect(err).toContain('Nothing was sent. --go sends 1.');
      const json = await type('replay', '--all', '--json');
      expect(json.status).toBe(1);
      expect(JSON.parse(json.out)[0]).toEqual({
        id: 'e-2',
        failedAt: 'locked',
        problem: expect.stringContaining(DENIED),
        refusedAt: 'locked',
      });
    });

    it('at the send, the others are sent; it reports what was not, and exits with 1', async () => {
      const { scene, type } = await aDesk(['SendMessageBatch', 'locked']);
      const { status, err } = await type('replay', '--all', '--go', '--no-ramp');
      expect(err).toContain(`not sent: 3 for "locked" (${DENIED}sqs:SendMessageBatch on resource: locked`);
      expect(err.match(/not sent:/g)).toHaveLength(1);
      expect(err).toContain('done: 1 sent, 3 skipped, 0 left');
      expect(status).toBe(1);
      const [taken] = await office.engines.sqs.takeUntil('score', 1);
      expect(JSON.parse(taken?.Body ?? '')).toMatchObject({ id: 'good' });
      expect(await office.engines.sqs.take('locked')).toEqual([]);
      for (const id of ids(3)) expect((await scene.entriesOf(id))[0]?.replays).toEqual([]);
    });

    it('in JSON, each failure that was not sent names the target', async () => {
      const { type } = await aDesk(['SendMessageBatch', 'locked']);
      const { status, out } = await type('replay', '--all', '--go', '--no-ramp', '--json');
      expect(status).toBe(1);
      expect(JSON.parse(out)).toMatchObject({ why: 'all-sent', sent: ['good'], left: [] });
      expect(JSON.parse(out).skipped).toContainEqual({
        id: 'e-0',
        problem: expect.stringContaining(DENIED),
        refusedAt: 'locked',
      });
      await office.engines.sqs.takeUntil('score', 1);
    });

    it('when SQS denies access to every target, the replay stops with an error', async () => {
      const { scene, type } = await aDesk(['SendMessageBatch', 'locked'], ['SendMessageBatch', 'score']);
      const { status, err } = await type('replay', '--all', '--go');
      expect(status).toBe(1);
      expect(err).toContain(`stopped: good could not be sent: ${DENIED}sqs:SendMessageBatch`);
      expect(err).toContain('0 sent, 0 ended well, 0 failed again, 3 skipped, 1 left');
      for (const id of ['good', ...ids(3)]) expect((await scene.entriesOf(id))[0]?.replays).toEqual([]);
    });
  });

  it('ends with 1 where the archive is down, dry or not, and says so once', async () => {
    const { scene, type } = await office.desk();
    await scene.fail(ids(3));
    await office.engines.s3.shut();
    const dry = await type('replay', '--all');
    const wet = await type('replay', '--all', '--go');
    await office.engines.s3.open();
    expect(dry).toMatchObject({ status: 1, out: '' });
    expect(dry.err.match(/the archive does not answer/g)).toHaveLength(1);
    expect(wet.status).toBe(1);
    expect(wet.err).toContain('the archive does not answer');
    expect((await scene.entriesOf('e-1'))[0]?.replays).toEqual([]);
  });

  it('names what could not be sent, a few of many, and ends with 1', async () => {
    const { scene, type } = await office.desk();
    await scene.fail(ids(8), { payload: {} });
    await scene.fail(['good']);
    const patch = '[{"op":"replace","path":"/n","value":2}]';
    const { status, err } = await type('replay', '--all', '--patch', patch, '--go', '--no-ramp');
    expect(status).toBe(1);
    expect(err.match(/not sent: e-\d: operation 1 of the patch \(replace\)/g)).toHaveLength(5);
    expect(err).toContain('not sent: … and 3 more');
    expect(err).toContain('done: 1 sent, 8 skipped, 0 left');
    expect(JSON.parse((await office.engines.sqs.takeUntil('score', 1))[0]?.Body ?? '').payload).toMatchObject(
      {
        n: 2,
      },
    );
  });

  it('reads the patch from a file too', async () => {
    const { scene, type } = await office.desk();
    await scene.fail(['e-1']);
    const file = join(await temporaryFolder(), 'patch.json');
    writeFileSync(file, '[{"op":"add","path":"/m","value":12345678901234567890}]');
    expect((await type('replay', 'e-1', '--patch', file, '--payload')).out).toContain(
      '"m":12345678901234567890}',
    );
    expect((await type('replay', 'e-1', '--patch', file, '--payload', '--json')).out).toContain(
      '"m":12345678901234567890}',
    );
  });

  it('is refused with words that help', async () => {
    const { scene, type } = await office.desk();
    await scene.fail(['e-1']);
    const refusals: readonly (readonly [readonly string[], number, RegExp])[] = [
      [[], 2, /which failures\? name envelopes, or --group/],
      [['--go'], 2, /which failures\?/],
      [['e-1', '--all'], 2, /envelopes by id and a filter at once/],
      [['e-1', '--go', '--dry-run'], 2, /--go and --dry-run at once/],
      [['e-1', '--rate', '0'], 2, /--rate is "0"; it takes a number above 0/],
      [['e-1', '--rate', 'fast'], 2, /--rate is "fast"/],
      [['e-1', '--wait', 'long'], 2, /--wait is "long".*"5m"/],
      [['e-1', '--timeout', '1s'], 2, /--timeout is "1s"; an actor takes nothing on with 1s or less left/],
      [['e-1', '--to', 'x-sink'], 2, /--to is "x-sink".*none of the mesh's own/],
      [['e-1', '--to', 'Score_2'], 2, /--to is "Score_2"; an actor's name is/],
      [['e-1', '--patch', '{"op":"add"}'], 2, /--patch: a patch is a JSON array like/],
      [['e-1', '--patch', '[{"op":"put"}]'], 2, /--patch: operation 1 of the patch: op is "put"/],
      [['e-1', '--patch', 'missing.json'], 2, /--patch: ENOENT.*missing\.json/],
      [['e-1', 'nobody', '--go'], 1, /no failure of "nobody"; nothing was sent/],
      [['--group', 'ffffffffffff', '--go'], 1, /no failure is meant by that; `asya failures` tells/],
    ];
    for (const [argv, status, words] of refusals) {
      const run = await type('replay', ...argv);
      expect(run.status, argv.join(' ')).toBe(status);
      expect(run.err, argv.join(' ')).toMatch(words);
    }
    expect((await scene.entriesOf('e-1'))[0]?.replays).toEqual([]);
  });

  it('over a broker that is out of reach nothing is replayed, and that is said', async () => {
    const { scene, variables } = await office.desk();
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
  it('asks, and does nothing where the answer is no', async () => {
    const { scene, variables } = await office.desk();
    await scene.fail(ids(3));
    const no = await asya(['purge', '--all'], { env: variables, answers: false });
    expect(no).toMatchObject({ status: 1, err: 'asya: nothing was purged' });
    expect(no.questions).toEqual([
      'Purge 3 failures, 3 of them never replayed? There is no replay after that.',
    ]);
    expect(await scene.select()).toHaveLength(3);
    const yes = await asya(['purge', 'e-1'], { env: variables, answers: true });
    expect(yes).toMatchObject({ status: 0, err: 'purged 1 failure' });
    expect(await scene.select()).toHaveLength(2);
  });

  it('where nobody can be asked it needs --yes', async () => {
    const { scene, type } = await office.desk();
    await scene.fail(ids(2));
    const refused = await type('purge', '--all');
    expect(refused).toMatchObject({
      status: 2,
      err: expect.stringContaining('say --yes where nobody can be asked'),
    });
    expect(await scene.select()).toHaveLength(2);
    expect(await type('purge', '--all', '--yes')).toMatchObject({ status: 0, err: 'purged 2 failures' });
    expect(await scene.select()).toEqual([]);
  });

  it('leaves the envelopes in the archive, unless --archive takes them too', async () => {
    const { scene, type } = await office.desk();
    await scene.fail(ids(2));
    const keys = await Promise.all(
      ids(2).map(async (id) => (await scene.entriesOf(id))[0]?.archiveKey ?? ''),
    );
    const areThere = () => Promise.all(keys.map(async (key) => scene.stores.archive.has(key)));
    await type('purge', 'e-0', '--yes');
    expect(await areThere()).toMatchObject([{ isThere: true }, { isThere: true }]);
    const run = await type('purge', 'e-1', '--yes', '--archive');
    expect(run.err).toBe('purged 1 failure and the kept envelopes');
    expect(await areThere()).toMatchObject([{ isThere: true }, { isThere: false }]);
  });

  it('says what it did not find, and where it stopped', async () => {
    const { scene, type } = await office.desk();
    await scene.fail(['e-1']);
    expect(await type('purge')).toMatchObject({ status: 2, err: expect.stringContaining('which failures?') });
    expect(await type('purge', 'nobody', 'e-1', '--yes')).toMatchObject({
      status: 1,
      err: 'asya: no failure of "nobody"; nothing was purged',
    });
    expect(await type('purge', '--actor', 'none', '--yes')).toMatchObject({
      status: 1,
      err: expect.stringContaining('nothing was purged'),
    });
    await office.engines.s3.shut();
    const run = await type('purge', 'e-1', '--yes', '--archive');
    await office.engines.s3.open();
    expect(run).toMatchObject({
      status: 1,
      err: expect.stringMatching(/the archive does not answer.*0 of 1 were purged/),
    });
    expect(await scene.select()).toHaveLength(1);
  });
});
