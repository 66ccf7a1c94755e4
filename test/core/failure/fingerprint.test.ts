import { describe, expect, it } from 'vitest';
import { deriveId } from '../../../lib/adapters/system/system.ts';
import {
  type FingerprintInput,
  fingerprintOf,
  normalizeMessage,
  topFrames,
} from '../../../lib/core/failure/fingerprint.ts';

const FAILING: FingerprintInput = { actor: 'score', errorType: 'ValueError', message: 'no', traceback: '' };
const printOf = (changes: Partial<FingerprintInput> = {}) =>
  fingerprintOf({ ...FAILING, ...changes }, deriveId);

describe('the fingerprint of the same cause is the same', () => {
  it.each<[string, readonly string[]]>([
    ['numbers', ['row 17 is bad', 'row 4 is bad', 'row -3.5 is bad', 'row 1,000 is bad', 'row 1e9 is bad']],
    ['numbers next to a word', ['took 12ms', 'took 3ms']],
    ['percentages and amounts', ['used 97% of 512MB', 'used 8% of 64MB']],
    [
      'UUIDs',
      ['no user 7f0c8f3e-1c7e-4d5b-9a55-0d6c3a1b2c3d', 'no user A0B1C2D3-E4F5-4a6b-8c7d-0123456789AB'],
    ],
    ['hashes', ['no blob 9f86d081884c7d659a2feaa0c55ad015', 'no blob a3bf4f1b2b0b822cd15d6c15b0f00a08']],
    ['short hashes', ['no commit a1b2c3d', 'no commit 9dff001', 'no commit 1234567']],
    ['service ids', ['no order ord_8fK2mQ9xZ1', 'no order ord_77aB3cD4eF']],
    ['values in double quotes', ['no key "alpha"', 'no key "beta gamma"', 'no key "with \\" inside"']],
    ['values in single quotes', ["no key 'alpha'", "no key 'b c'"]],
    ['values in backticks', ['no key `alpha`', 'no key `beta`']],
    ['paths', ['cannot open /data/in/a.csv', 'cannot open /var/tmp/run-7/other.json']],
    ['other kinds of paths', ['cannot open ~/in/a.csv', 'cannot open ./x/y', 'cannot open C:\\in\\b.csv']],
    ['timestamps', ['due 2026-01-01T00:00:00Z', 'due 2025-12-31T23:59:59.123Z']],
    ['dates and times', ['due 2026-01-01 10:11:12', 'due 2024-02-29 00:00:00']],
    ['memory addresses', ['<object at 0x7f3a2c1d>', '<object at 0xDEADBEEF00>']],
    ['e-mail addresses', ['no user ann@example.org', 'no user b.c+d@mail.example.co.uk']],
    ['URLs', ['GET https://a.example/x?y=1 failed', 'GET http://b.example:8080/z failed']],
    ['network addresses', ['connect 10.0.0.1:5432 refused', 'connect 192.168.17.4:80 refused']],
    ['spaces', ['a  b\n c', 'a b c ']],
    ['texts after the first 500 characters', [`${'word '.repeat(100)}a`, `${'word '.repeat(100)}b`]],
  ])('for different %s', (_what, messages) => {
    expect([...new Set(messages.map(normalizeMessage))]).toHaveLength(1);
    expect(new Set(messages.map((message) => printOf({ message }))).size).toBe(1);
  });

  it('is short', () => {
    expect(printOf()).toMatch(/^[0-9a-f]{12}$/);
  });
});

describe('the fingerprint of another cause is different', () => {
  const traceback =
    'Traceback (most recent call last):\n  File "/app/score.py", line 3, in score\nValueError: no';
  it.each<[string, Partial<FingerprintInput>]>([
    ['actor', { actor: 'store' }],
    ['type', { errorType: 'KeyError' }],
    ['message', { message: 'yes' }],
    ['frames', { traceback }],
    ['frame', { traceback: traceback.replace('in score', 'in other') }],
    ['file', { traceback: traceback.replace('score.py', 'other.py') }],
  ])('with another %s', (_what, changes) => {
    expect(printOf(changes)).not.toBe(printOf());
    expect(printOf(changes)).not.toBe(printOf({ traceback: `${traceback}\n`, message: 'third' }));
  });

  it.each([
    ['no user 1', 'no order 1'],
    ['quota exceeded', 'quota extended'],
    ["can't read it", "can't write it"],
    ['Maximum recursion depth exceeded', 'Maximum duration exceeded'],
    ['read/write lock', 'read/only lock'],
    ['internationalization missing', 'authentication missing'],
  ])('for %j and %j', (one, other) => {
    expect(normalizeMessage(one)).not.toBe(normalizeMessage(other));
  });
});

const python = (line: number, message = 'no') =>
  [
    'Traceback (most recent call last):',
    `  File "/opt/asya/runtime.py", line ${line}, in serve`,
    '    handle(payload)',
    `  File "/app/score.py", line ${line + 1}, in score`,
    '    return parse(payload)',
    `  File "/app/lib/parse.py", line ${line + 2}, in parse`,
    '    raise ValueError(message)',
    '    ^^^^^^^^^^^^^^^^^^^^^^^^^',
    `  File "/app/lib/check.py", line ${line + 3}, in <module>`,
    '    check()',
    `ValueError: ${message}`,
  ].join('\n');

const node = (line: number, folder = '/app') =>
  [
    'TypeError: cannot read',
    `    at parse (file://${folder}/lib/parse.ts:${line}:7)`,
    `    at async Worker.score (${folder}/score.ts:${line + 9}:21)`,
    `    at ${folder}/top.ts:${line}:3`,
    '    at process.processTicksAndRejections (node:internal/process/task_queues:105:5)',
    `    at new Later (${folder}/later.ts:${line}:1)`,
  ].join('\n');

describe('topFrames', () => {
  it.each<[string, string, readonly string[]]>([
    ['Python, innermost first', python(10), ['check.py:<module>', 'parse.py:parse', 'score.py:score']],
    ['Node', node(10), ['parse.ts:parse', 'score.ts:async Worker.score', 'top.ts:']],
    [
      'Python, raised while another exception was handled',
      `${python(1)}\n\nDuring handling of the above exception, another exception occurred:\n\n${python(50).replaceAll('parse', 'again')}`,
      ['check.py:<module>', 'again.py:again', 'score.py:score'],
    ],
    [
      'Python, in a group of exceptions',
      '  + Exception Group Traceback (most recent call last):\n  |   File "/app/a.py", line 1, in run\n  | ExceptionGroup: two',
      ['a.py:run'],
    ],
    [
      'Node, with a cause',
      `${node(3)} {\n  [cause]: Error: deep\n      at deep (/app/deep.ts:1:1)\n}`,
      ['parse.ts:parse', 'score.ts:async Worker.score', 'top.ts:'],
    ],
    ['no frames', 'no frames in here', []],
    ['an empty traceback', '', []],
  ])('%s', (_what, traceback, frames) => {
    expect(topFrames(traceback)).toEqual(frames);
  });

  it('contain neither line numbers nor folders', () => {
    expect(topFrames(python(10))).toEqual(topFrames(python(99)));
    expect(topFrames(node(10))).toEqual(topFrames(node(99, '/var/task')));
  });

  it('are found in a traceback that was cut in the middle', () => {
    const cut = `${python(1).slice(0, 60)}\n... cut ...\n${python(1).slice(-200)}`;
    expect(topFrames(cut).slice(0, 1)).toEqual(['check.py:<module>']);
  });
});

describe('a fingerprint takes linear time', () => {
  const SIZE = 8_192;
  const HUGE = 1_048_576;
  const repeated = (text: string, length = SIZE) =>
    text.repeat(Math.ceil(length / text.length)).slice(0, length);

  it.each([
    '"',
    "'",
    '`',
    '7',
    '-',
    'a-',
    '_',
    'a.',
    'a@',
    '\\',
    '\\"',
    '/a',
    '/',
    '1,',
    'a1',
    '0x',
    '://',
    'a:',
    ' ',
    '\n',
  ])('for a message that repeats %j', (text) => {
    expect(normalizeMessage(repeated(text)).length).toBeLessThanOrEqual(500);
  });

  it.each([
    '\n',
    ' ',
    ' \n',
    '    at ',
    '    at a (',
    'File "',
    '  File "a", line 1, in ',
    ':',
    '    at a:1:',
    '|',
  ])('for a traceback of 1 MB that repeats %j', (text) => {
    // Quadratic time for a megabyte would exceed the test's timeout.
    expect(topFrames(repeated(text, HUGE)).length).toBeLessThanOrEqual(3);
  });
});
