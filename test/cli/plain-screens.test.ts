import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Fields, ids } from '../replay/a-replay.ts';
import { type Office, openOffice } from './a-cli.ts';
import { asya } from './a-terminal.ts';

/** Whatever comes from outside: on the screen it moves nothing, breaks nothing and tells no payload. */

let office: Office;
beforeAll(async () => {
  office = await openOffice();
});
afterAll(() => office.close());

const SECRET = 'payload of';
const NASTY = 'a\x1b[2J\x1b]0;title\x07b\u009b1Ac\rd\ne\u202ef';
/** Whatever moves the cursor, but for line breaks and the colours of our own. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const MOVES = /[\x00-\x08\x0b-\x1a\x1c-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]|\x1b(?!\[\d+m)/;

describe('what comes from outside', () => {
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

  it('moves no cursor and breaks no line, on any screen', async () => {
    const { scene, type } = await office.desk();
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
      const { raw, out } = await type(...argv);
      expect(raw.match(MOVES), argv.join(' ')).toBeNull();
      if (argv.includes('--json'))
        for (const text of argv[1] === 'list' ? out.split('\n') : [out]) JSON.parse(text);
    }
    // One line for each row, whatever stands in it.
    expect((await type('failures', 'list')).out.split('\n')).toHaveLength(3);
  });

  it('is cut where it is long, and counted in columns where it is wide', async () => {
    const { scene, type } = await office.desk();
    await scene.fail(['漢'.repeat(60), 'x'.repeat(300), `${'y'.repeat(98)}😀😀`, 'e-1']);
    const { out } = await type('failures', 'list');
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

  it('is no payload, unless that is asked for', async () => {
    const { scene, variables, type } = await office.desk();
    await scene.fail(ids(2));
    await scene.fail(['odd'], { payload: `${SECRET} odd` });
    const patches = [
      '[{"op":"test","path":"/secret","value":1}]',
      '[{"op":"add","path":"/secret/x","value":1}]',
    ];
    const silent = [
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
    for (const argv of silent) expect((await type(...argv)).raw, argv.join(' ')).not.toContain(SECRET);
    await office.engines.s3.shut();
    expect((await asya(['replay', '--all'], { env: variables })).raw).not.toContain(SECRET);
    await office.engines.s3.open();
    for (const argv of [
      ['failures', 'show', 'e-0'],
      ['replay', 'e-0'],
    ]) {
      expect((await type(...argv, '--payload')).out).toContain(`{"n":1,"secret":"${SECRET} e-0"}`);
      const json = JSON.parse((await type(...argv, '--payload', '--json')).out);
      expect(Array.isArray(json) ? json[0] : json).toMatchObject({ payload: { secret: `${SECRET} e-0` } });
    }
  });
});
