import { PassThrough } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { onLines } from '../../../lib/adapters/runtime-process/lines.ts';

async function linesOf(...chunks: readonly (string | Buffer)[]): Promise<readonly string[]> {
  const stream = new PassThrough();
  const lines: string[] = [];
  onLines(stream, (line) => lines.push(line));
  for (const chunk of chunks) stream.write(chunk);
  stream.end();
  await new Promise((resolve) => stream.once('close', resolve));
  return lines;
}

describe('the lines of a process', () => {
  it.each<readonly [string, readonly string[], readonly string[]]>([
    ['whole ones', ['a\nb\n'], ['a', 'b']],
    ['one without an end', ['a\nb'], ['a', 'b']],
    ['empty ones', ['\n\na\n'], ['', '', 'a']],
    ['in pieces', ['a', 'b', '\nc', '\n', 'd'], ['ab', 'c', 'd']],
    ['with carriage returns', ['a\r\nb\r', '\nc\rd\n'], ['a', 'b', 'c', 'd']],
    [
      'of a progress bar, which has no newline',
      ['\rstep 1\r', 'step 2\r', '  \r'],
      ['', 'step 1', 'step 2', '  '],
    ],
    ['with U+2028 and U+2029, which end no line', ['a\u2028b\u2029c\n'], ['a\u2028b\u2029c']],
    ['with indentation', ['  a\n\tb  \n'], ['  a', '\tb  ']],
    ['none', [], []],
  ])('%s', async (_what, chunks, lines) => {
    expect(await linesOf(...chunks)).toEqual(lines);
  });

  it('what never ends is passed on in pieces, and all of it', async () => {
    const chunks = Array.from({ length: 100 }, () => 'x'.repeat(10_000));
    const lines = await linesOf(...chunks);
    expect(lines.length).toBeGreaterThan(1);
    expect(lines.join('')).toBe(chunks.join(''));
  });

  it('a character whose bytes come in two pieces', async () => {
    const bytes = Buffer.from('é€\u{1f600}\n');
    for (let at = 1; at < bytes.length; at++)
      expect(await linesOf(bytes.subarray(0, at), bytes.subarray(at))).toEqual(['é€\u{1f600}']);
  });
});
