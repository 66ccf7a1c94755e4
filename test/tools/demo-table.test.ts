import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import stringWidth from 'string-width';
import { describe, expect, it } from 'vitest';
import { demoOptions } from '../../tools/demo-options.ts';
import { type DemoRow, demoTable, MAX_COLUMNS, progressLine } from '../../tools/demo-table.ts';

const ROW: DemoRow = {
  name: 'succeeds',
  expected: 'succeeded: Completed, attempt 1',
  actual: 'succeeded: Completed, attempt 1',
  explanation: 'the handler returns a value',
};
const LONG = 'a sentence that is much longer than the space that is left for it, '.repeat(3);
const isNarrow = (text: string) => text.split('\n').every((line) => stringWidth(line) <= MAX_COLUMNS);

describe('the table of the demo', () => {
  it('shows an outcome once if it is as expected', () => {
    expect(demoTable([ROW])).toBe(
      [
        '    FLOW      OUTCOME                          EXPLANATION',
        'ok  succeeds  succeeded: Completed, attempt 1  the handler returns a value',
      ].join('\n'),
    );
  });

  it('shows expected and actual outcome where they differ', () => {
    const differs = { ...ROW, name: 'hangs', actual: 'failed: ActorTimeout, attempt 1' };
    const none = { ...ROW, name: 'expires', actual: '' };
    expect(demoTable([ROW, differs, none])).toBe(
      [
        '         FLOW      OUTCOME                                   EXPLANATION',
        'ok       succeeds  succeeded: Completed, attempt 1           the handler returns a value',
        'DIFFERS  hangs     expected succeeded: Completed, attempt 1  the handler returns a value',
        '                   actual failed: ActorTimeout, attempt 1',
        'DIFFERS  expires   expected succeeded: Completed, attempt 1  the handler returns a value',
        '                   actual none',
      ].join('\n'),
    );
  });

  it('is at most 100 columns wide', () => {
    const wide = { ...ROW, name: 'a-flow-with-a-very-long-name', explanation: LONG };
    expect(isNarrow(demoTable([ROW, wide, { ...wide, actual: LONG }]))).toBe(true);
    expect(isNarrow(demoTable([{ ...wide, expected: 'x'.repeat(300), actual: 'x'.repeat(300) }]))).toBe(true);
  });
});

it('a line about the progress is at most 100 columns wide', () => {
  expect(progressLine('a flow', 1_234)).toBe('  1.2 s  a flow');
  expect(stringWidth(progressLine(LONG, 123_456))).toBe(MAX_COLUMNS);
});

describe('the options of the demo', () => {
  it.each([
    [[], { keep: false }],
    [['--keep'], { keep: true }],
  ])('reads %j', (args, expected) => {
    expect(demoOptions(args)).toEqual(expected);
  });

  it.each([
    ['--kep', '; did you mean "--keep"?'],
    ['--keep=yes', '; did you mean "--keep"?'],
    ['-x', ''],
    ['--', ''],
  ])('rejects %s', (arg, hint) => {
    const problem = `demo: unknown option "${arg}"; expected --keep${hint}`;
    expect(demoOptions(['--keep', arg])).toEqual({ problem });
  });

  it('a usage error ends the demo with status 2, before anything starts', () => {
    const demo = join(import.meta.dirname, '../../tools/demo.ts');
    const { status, stdout, stderr } = spawnSync(process.execPath, [demo, '--forever'], { encoding: 'utf8' });
    expect({ status, stdout, stderr }).toEqual({
      status: 2,
      stdout: '',
      stderr: 'demo: unknown option "--forever"; expected --keep\n',
    });
  });
});
