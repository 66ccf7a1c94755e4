import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { asya, type Run } from '../cli/run-asya.ts';
import {
  endProcesses,
  plainEnvironment,
  ROOT,
  startProcess,
  until,
  watchProcess,
} from '../sidecar/sidecar-process.ts';
import { ids } from './a-replay.ts';
import { type RunningMesh, startMesh } from './a-running-mesh.ts';

/** The whole workflow on a running mesh: fail, inspect, fix, replay, purge. The tests depend on their order. */

let mesh: RunningMesh;
let group = '';
beforeAll(async () => {
  mesh = await startMesh();
});
afterAll(async () => {
  await mesh.close();
  await endProcesses();
});

const runAsya = (...argv: readonly string[]): Promise<Run> => asya(argv, { env: mesh.variables });
const listed = async (...argv: readonly string[]): Promise<Record<string, unknown>[]> => {
  const { out } = await runAsya('failures', 'list', '--json', ...argv);
  return out === '' ? [] : out.split('\n').map((line) => JSON.parse(line));
};
const keysIn = async (folder: string) => (await mesh.engines.keys()).filter((key) => key.startsWith(folder));
const untilListed = (count: number, ...argv: readonly string[]) =>
  until(async () => (await listed(...argv)).length === count, `${count} failures`);

/** An actor acknowledges a delivery after sending its result, which may have been processed by then. */
const untilAcked = () =>
  until(async () => {
    const { visible, hidden, delayed } = await mesh.engines.sqs.counts('score');
    return visible + hidden + delayed === 0;
  }, 'all deliveries are acknowledged');

const FAILED = ids(13);

describe('envelopes that failed', () => {
  it('are one group', async () => {
    await mesh.send(FAILED);
    await untilListed(13);
    const { out } = await runAsya('failures');
    expect(out.split('\n')).toHaveLength(2);
    expect(out).toMatch(
      /\n[0-9a-f]{12} +13 +0 +0 +\d+[sm] ago +score +PolicyExhausted +ValueError: no such user: \d+$/,
    );
    group = JSON.parse((await runAsya('failures', '--json')).out)[0].group;
    expect((await listed('--group', group)).map(({ envelopeId }) => envelopeId).toSorted()).toEqual(
      [...FAILED].toSorted(),
    );
    // One log line for each, without the payload.
    const logged = (name: string) => new Set(mesh.logged('failure').map((line) => line[name]));
    await until(() => logged('envelopeId').size === FAILED.length, 'one log line for each failure');
    expect(logged('envelopeId')).toEqual(new Set(FAILED));
    expect(logged('group')).toEqual(new Set([group]));
    expect(JSON.stringify(mesh.logged('failure'))).not.toContain('fix_file');
  });

  it('are shown in detail', async () => {
    const { status, out } = await runAsya('failures', 'show', 'e-3');
    expect(status).toBe(0);
    expect(out).toContain('e-3  failed at score · exhausted (PolicyExhausted) · attempt 1 of 1');
    expect(out).toContain('route       fetch ✓ → score ✗\n');
    expect(out).toContain('decided by  rule 2, policy "once"');
    expect(out).toContain('error       ValueError: no such user: 3\n');
    expect(out).toMatch(/fragile\.py", line \d+, in score/);
  });

  it('are not sent by a dry run', async () => {
    await untilAcked();
    const { status, out } = await runAsya('replay', '--group', group, '--dry-run');
    expect(status).toBe(0);
    expect(out.split('\n')).toHaveLength(14);
    expect((await listed()).every(({ replays }) => (replays as unknown[]).length === 0)).toBe(true);
    expect(await mesh.engines.sqs.counts('score')).toEqual({ visible: 0, hidden: 0, delayed: 0 });
  });

  it('stop a replay after the first one if the handler is not fixed', async () => {
    const { status, err } = await runAsya('replay', '--group', group, '--go');
    expect(status).toBe(3);
    expect(err).toMatch(/failed again: e-\d+ at score, PolicyExhausted/);
    expect(err).toContain('1 sent, 0 succeeded, 1 failed again, 0 skipped, 12 left; nothing more was sent');
    // The envelope that failed again is a new failure in the same group.
    await untilListed(14, '--all', '--group', group);
    await untilListed(13, '--group', group);
  });

  it('succeed when they are replayed after the fix', async () => {
    mesh.fixHandler();
    const { status, out } = await runAsya('replay', '--group', group, '--go', '--json');
    const end = JSON.parse(out);
    expect(end).toMatchObject({ why: 'all-sent', failedAgain: [], skipped: [], left: [] });
    expect(status).toBe(0);
    expect(end.sent.toSorted()).toEqual([...FAILED].toSorted());
    expect(end.endedWell.toSorted()).toEqual([...FAILED].toSorted());
    const shown = (await runAsya('failures', 'show', end.sent[1])).out;
    expect(shown).toMatch(new RegExp(`replayed .* to score, ${end.replay}: succeeded`));
    // The end record is written before the object in the archive.
    await expect.poll(() => keysIn('succeeded/')).toHaveLength(13);
    expect(await keysIn('failed/')).toHaveLength(14);
  });

  it('are resolved then, and not replayed again', async () => {
    await untilAcked();
    await untilListed(14, '--resolved', '--group', group);
    expect((await runAsya('failures')).out).toBe('no open failures (14 resolved); --all lists all of them');
    const { status, err } = await runAsya('replay', '--group', group, '--go');
    expect(status).toBe(1);
    expect(err).toContain('no failures match (resolved ones are not replayed)');
    const one = await runAsya('replay', 'e-3', '--go');
    expect(one.status).toBe(1);
    expect(one.err).toMatch(/not sent: e-3: it was replayed before .*; --again sends it again/);
    expect(await mesh.engines.sqs.counts('score')).toEqual({ visible: 0, hidden: 0, delayed: 0 });
  });

  it('are purged', async () => {
    const run = await asya(['purge', '--group', group], { env: mesh.variables, answers: true });
    expect(run).toMatchObject({ status: 0, err: 'purged 14 failures' });
    expect(await runAsya('failures')).toMatchObject({ out: 'no failures' });
    expect(await keysIn('failed/')).toHaveLength(14);
  });
});

describe('a dead letter with invalid JSON', () => {
  it('is archived, shown, and replayed with a patched payload', async () => {
    await mesh.engines.sqs.send('score-dlq', 'not {JSON');
    await untilListed(1);
    const [{ envelopeId, reason }] = (await listed()) as [{ envelopeId: string; reason: string }];
    expect(reason).toBe('DeliveryExhausted');
    const shown = (await runAsya('failures', 'show', envelopeId, '--payload')).out;
    expect(shown).toContain(
      'decided by  the broker: received the maximum number of times without an acknowledgement',
    );
    expect(shown).toContain('{"raw":"not {JSON"}');
    const plain = await runAsya('replay', envelopeId, '--go');
    expect(plain.status).toBe(1);
    expect(plain.err).toContain('Set a valid payload with --patch');
    const patch = '[{"op":"replace","path":"","value":{"n":1,"fix_file":"/"}}]';
    const patched = await runAsya('replay', envelopeId, '--patch', patch, '--go');
    expect(patched.err).toContain('done: 1 sent, 1 succeeded, 0 failed again, 0 skipped, 0 left');
    expect(patched.status).toBe(0);
    await runAsya('purge', '--all', '--yes', '--archive');
  });
});

describe('the real command', () => {
  const ASYA = join(ROOT, 'bin/asya.js');

  it('reads its environment, replays and exits with the status', async () => {
    await mesh.send(['p-1', 'p-2'], { poison: true });
    await untilListed(2);
    const list = startProcess([ASYA, 'failures', 'list', '--json'], mesh.variables);
    expect(await list.untilExit()).toEqual({ code: 0, signal: null });
    expect(list.lines.map((line) => line['envelopeId']).toSorted()).toEqual(['p-1', 'p-2']);
    const replay = startProcess([ASYA, 'replay', '--all', '--go'], mesh.variables);
    expect(await replay.untilExit()).toEqual({ code: 3, signal: null });
    expect(replay.errorOutput()).toMatch(
      /stopped because some envelopes failed again: 1 sent, .* 1 left; nothing more was sent/,
    );
    const purge = startProcess([ASYA, 'purge', '--all'], mesh.variables);
    expect(await purge.untilExit()).toEqual({ code: 2, signal: null });
    expect(purge.errorOutput()).toContain('pass --yes when not running interactively');
  });

  it('on SIGTERM while waiting, prints its progress and exits with 130', async () => {
    await mesh.engines.sqs.createQueue('idle');
    const replay = startProcess([ASYA, 'replay', '--all', '--again', '--to', 'idle', '--go'], mesh.variables);
    await until(() => replay.output().includes('sent 1 of 2'), 'the first is sent');
    replay.signal('SIGTERM');
    expect(await replay.untilExit()).toEqual({ code: 130, signal: null });
    expect(replay.errorOutput()).toMatch(/interrupted: 1 sent, .* 1 left; the next would have been p-\d/);
  });

  it('exits without an error when the reader of a pipe closes it', async () => {
    const command = `${process.execPath} ${ASYA} failures list --json | head -c 1`;
    const shell = watchProcess(
      spawn('/bin/sh', ['-c', command], {
        env: plainEnvironment(mesh.variables),
        stdio: ['ignore', 'pipe', 'pipe'],
      }),
    );
    await shell.untilExit();
    expect(shell.output()).toBe('{');
  });
});
