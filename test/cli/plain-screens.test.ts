import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Fields, ids } from '../replay/a-replay.ts';
import { type Backend, startBackend } from './operator-fixture.ts';
import { asya } from './run-asya.ts';

/** Text from users and handlers: control characters never reach the terminal, and payloads are printed on request only. */

let backend: Backend;
beforeAll(async () => {
  backend = await startBackend();
});
afterAll(() => backend.close());

const SECRET = 'payload of';
const NASTY = 'a\x1b[2J\x1b]0;title\x07b\u009b1Ac\rd\ne\u202ef';
/** Control characters, except for line breaks and our own colors. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: the test looks for them
const CONTROL = /[\x00-\x08\x0b-\x1a\x1c-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]|\x1b(?!\[\d+m)/;

describe('text from users and handlers', () => {
  const nastyStatus = {
    actor: NASTY,
    reason: NASTY,
    error: { type: NASTY, mro: [], message: NASTY, traceback: `${NASTY}\n${NASTY}` },
    decided_by: { policy: NASTY },
  };
  const nasty: Fields = {
    headers: { 'x-asya-flow': NASTY, 'x-asya-task': NASTY, 'x-asya-replay': NASTY },
    payload: { n: `${NASTY}\u{e0001}` },
    status: nastyStatus,
  };

  it('is printed without control characters and line breaks by every command', async () => {
    const { scene, cli } = await backend.newMesh();
    await scene.fail([NASTY, `${NASTY}2`], nasty);
    await scene.fail(['e-1']);
    const screens = [
      ['failures'],
      ['failures', '--json'],
      ['failures', 'list'],
      ['failures', 'list', '--json'],
      ['failures', 'show', NASTY, '--payload'],
      ['failures', 'show', NASTY, '--payload', '--json'],
      ['replay', '--all', '--payload'],
      ['replay', '--all', '--payload', '--json'],
      ['replay', NASTY, '--to', 'score', '--go', '--wait', '0s'],
      ['replay', NASTY, '--to', 'score', '--go'],
      ['replay', '--all', '--go', '--wait', '0s'],
      ['purge', NASTY, '--yes'],
    ];
    for (const argv of screens) {
      const { raw, out } = await cli(...argv);
      expect(raw.match(CONTROL), argv.join(' ')).toBeNull();
      if (argv.includes('--json'))
        for (const text of argv[1] === 'list' ? out.split('\n') : [out]) JSON.parse(text);
    }
    // Each row is one line.
    expect((await cli('failures', 'list')).out.split('\n')).toHaveLength(3);
  });

  it('is cut to a width in columns, also with wide characters', async () => {
    const { scene, cli } = await backend.newMesh();
    await scene.fail(['漢'.repeat(60), 'x'.repeat(300), `${'y'.repeat(98)}😀😀`, 'e-1']);
    const { out } = await cli('failures', 'list');
    const cells = out.split('\n').map((line) => line.split(/ {2,}/)[0]);
    expect(cells).toEqual([
      'ENVELOPE',
      'e-1',
      `${'y'.repeat(98)}…`,
      `${'x'.repeat(99)}…`,
      `${'漢'.repeat(49)}…`,
    ]);
    expect(out.isWellFormed()).toBe(true);
  });

  it('contains the payload only with --payload', async () => {
    const { scene, variables, cli } = await backend.newMesh();
    await scene.fail(ids(2));
    await scene.fail(['odd'], { payload: `${SECRET} odd` });
    const patches = [
      '[{"op":"test","path":"/secret","value":1}]',
      '[{"op":"add","path":"/secret/x","value":1}]',
    ];
    const withoutPayload = [
      ['failures'],
      ['failures', '--json'],
      ['failures', 'list', '--json'],
      ['failures', 'show', 'e-0'],
      ['failures', 'show', 'e-0', '--json'],
      ['replay', '--all'],
      ['replay', '--all', '--json'],
      ...patches.flatMap((patch) => [
        ['replay', '--all', '--patch', patch],
        ['replay', '--all', '--patch', patch, '--go'],
      ]),
    ];
    for (const argv of withoutPayload) expect((await cli(...argv)).raw, argv.join(' ')).not.toContain(SECRET);
    await backend.engines.s3.goDown();
    expect((await asya(['replay', '--all'], { env: variables })).raw).not.toContain(SECRET);
    await backend.engines.s3.recover();
    for (const argv of [
      ['failures', 'show', 'e-0'],
      ['replay', 'e-0'],
    ]) {
      expect((await cli(...argv, '--payload')).out).toContain(`{"n":1,"secret":"${SECRET} e-0"}`);
      const json = JSON.parse((await cli(...argv, '--payload', '--json')).out);
      expect(Array.isArray(json) ? json[0] : json).toMatchObject({ payload: { secret: `${SECRET} e-0` } });
    }
  });
});
