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

describe('onLines', () => {
  it.each<readonly [string, readonly string[], readonly string[]]>([
    ['complete lines', ['a\nb\n'], ['a', 'b']],
    ['a last line without a line end', ['a\nb'], ['a', 'b']],
    ['empty lines', ['\n\na\n'], ['', '', 'a']],
    ['lines in several chunks', ['a', 'b', '\nc', '\n', 'd'], ['ab', 'c', 'd']],
    ['carriage returns', ['a\r\nb\r', '\nc\rd\n'], ['a', 'b', 'c', 'd']],
    ['a progress bar without newlines', ['\rstep 1\r', 'step 2\r', '  \r'], ['', 'step 1', 'step 2', '  ']],
    ['U+2028 and U+2029, which do not end a line', ['a\u2028b\u2029c\n'], ['a\u2028b\u2029c']],
    ['indentation', ['  a\n\tb  \n'], ['  a', '\tb  ']],
    ['no output', [], []],
  ])('%s', async (_what, chunks, lines) => {
    expect(await linesOf(...chunks)).toEqual(lines);
  });

  it('passes on an endless line in pieces, completely', async () => {
    const chunks = Array.from({ length: 100 }, () => 'x'.repeat(10_000));
    const lines = await linesOf(...chunks);
    expect(lines.length).toBeGreaterThan(1);
    expect(lines.join('')).toBe(chunks.join(''));
  });

  it('divides a long line at the limit, but no character', async () => {
    const stream = new PassThrough();
    const lines: string[] = [];
    onLines(stream, (line) => lines.push(line), 4);
    stream.end('abcdefghi\nabc\u{1f600}\n');
    await new Promise((resolve) => stream.once('close', resolve));
    expect(lines).toEqual(['abcd', 'efgh', 'i', 'abc', '\u{1f600}']);
  });

  it('decodes a character whose bytes arrive in two chunks', async () => {
    const bytes = Buffer.from('é€\u{1f600}\n');
    for (let at = 1; at < bytes.length; at++)
      expect(await linesOf(bytes.subarray(0, at), bytes.subarray(at))).toEqual(['é€\u{1f600}']);
  });
});
