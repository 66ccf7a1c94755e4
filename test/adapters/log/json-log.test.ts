import { createInterface } from 'node:readline';
import { Readable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { jsonLog } from '../../../lib/adapters/log/json-log.ts';

/** The output of a log with this text: each line ends with `\n`. */
function logged(text: string): string {
  const lines: string[] = [];
  const log = jsonLog({ level: 'info', actor: 'score', now: () => 0, write: (line) => lines.push(line) });
  log.line('info', 'runtime', { text });
  log.line('info', 'next');
  return lines.map((line) => `${line}\n`).join('');
}

it('shortens texts, but never the output of a handler', () => {
  const lines: string[] = [];
  const log = jsonLog({ level: 'info', actor: 'score', now: () => 0, write: (line) => lines.push(line) });
  const text = `  ${'x'.repeat(30_000)}`;
  log.output({ stream: 'stdout', text, envelopeId: 'e-1' });
  log.line('warn', 'a problem', { text });
  const [output, warning] = lines.map((line) => JSON.parse(line) as { text: string });
  expect(output).toMatchObject({ message: 'runtime', stream: 'stdout', text, envelopeId: 'e-1' });
  expect(warning?.text).toHaveLength(2_003);
});

describe('a line of the log', () => {
  it.each([
    ['U+2028', 'a\u2028b'],
    ['U+2029', 'a\u2029b'],
    ['U+0085', 'a\u0085b'],
    ['\\n and \\r', 'a\nb\r\nc'],
    ['all of them, more than once', '\u2028\u2029\u0085\u2028'],
  ])('is one line to readers that split at %s, and reads back unchanged', async (_what, text) => {
    const written = logged(text);
    expect(written).not.toMatch(/[\u2028\u2029\u0085\r]/);
    const lines: string[] = [];
    for await (const line of createInterface({ input: Readable.from([written]) })) lines.push(line);
    expect(lines.map((line) => JSON.parse(line))).toMatchObject([
      { message: 'runtime', text },
      { message: 'next' },
    ]);
  });
});
