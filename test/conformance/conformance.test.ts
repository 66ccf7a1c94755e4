import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { runFile } from './run-file.ts';

const CASES = join(import.meta.dirname, '../../../shared/spec/conformance');
const files = existsSync(CASES) ? readdirSync(CASES).filter((name) => name.endsWith('.json')) : [];

if (files.length === 0) {
  console.warn(`conformance: skipped, because no case files exist at ${CASES}`);
  describe.skip('conformance (no case files next to the project)', () => it('is skipped', () => {}));
} else {
  describe.each(files)('%s', (file) => {
    it.each(runFile(join(CASES, file)).map((result, index) => [index, result.name, result] as const))(
      '%i %s',
      (_index, _name, result) => {
        expect(result.differences).toEqual([]);
      },
    );
  });

  describe('a wrong expectation makes a case fail', () => {
    const folder = mkdtempSync(join(tmpdir(), 'asya-conformance-'));
    afterAll(() => rmSync(folder, { recursive: true }));

    /** Runs the file with one thing changed in every case, and counts the cases that still pass. */
    function passingAfter(file: string, change: (text: string) => string): number {
      const changed = join(folder, basename(file));
      writeFileSync(changed, change(readFileSync(join(CASES, file), 'utf8')));
      return runFile(changed).filter(({ differences }) => differences.length === 0).length;
    }

    const CHANGES: readonly (readonly [string, string, (text: string) => string])[] = [
      [
        'decisions.json',
        'another payload',
        (text) => eachSend(text, (send) => (send.envelope.payload = 'other')),
      ],
      ['decisions.json', 'another queue', (text) => eachSend(text, (send) => (send.to = 'elsewhere'))],
      ['decisions.json', 'another delay', (text) => eachSend(text, (send) => (send.delayMs += 2))],
      [
        'decisions.json',
        'another header',
        (text) => eachSend(text, (send) => (send.envelope.headers = { a: 1 })),
      ],
      [
        'decisions.json',
        'another route',
        (text) => eachSend(text, (send) => (send.envelope.route.prev = ['q'])),
      ],
      ['decisions.json', 'another key', (text) => eachSend(text, (send) => (send.envelope.more = 1))],
      [
        'decisions.json',
        'another status',
        (text) => eachSend(text, (send) => (send.envelope.status = { phase: 'x' })),
      ],
      [
        'decisions.json',
        'something absent',
        (text) => eachSend(text, (send) => (send.absent = ['route.curr'])),
      ],
      ['decode.json', 'another reason', (text) => text.replace(/"reason": "\w+"/g, '"reason": "Nope"')],
      ['delays.json', 'another delay', (text) => text.replace(/"expectMs": (\d+)/g, '"expectMs": $1.5e3')],
      ['pipeline.json', 'another action', (text) => text.replace(/"action": "\w+"/g, '"action": "nope"')],
      [
        'config-errors.json',
        'another word',
        (text) => text.replace(/"mentions":\[/g, '"mentions":["nonesuch",'),
      ],
    ];

    it.each(CHANGES)('%s: %s', (file, _what, change) => {
      expect(passingAfter(file, change)).toBe(0);
    });

    it('keeps UTF-8 bytes as text and other bytes as base64', () => {
      const path = join(folder, 'decode-bytes.json');
      const expected = { to: 'x-sink', reason: 'ParseError' };
      const bodies = ['bm90IGpzb24=', '/f7//w=='].map((bodyBase64) => ({
        actor: 'score',
        bodyBase64,
        expect: expected,
      }));
      writeFileSync(path, JSON.stringify(bodies));
      expect(runFile(path).map(({ differences }) => differences)).toEqual([[], []]);
    });

    it('rejects a file of an unknown kind', () => {
      const path = join(folder, 'unknown.json');
      writeFileSync(path, '[{"what":"is this"}]');
      expect(() => runFile(path)).toThrow('the kind of cases is unknown');
    });
  });
}

interface Send {
  to: string;
  delayMs: number;
  absent: string[];
  envelope: {
    payload: unknown;
    headers: unknown;
    route: { prev: string[] };
    status: unknown;
    more?: unknown;
  };
}

function eachSend(text: string, change: (send: Send) => void): string {
  const cases = JSON.parse(text) as { expect: { sends: Send[] } }[];
  for (const { expect: expected } of cases) for (const send of expected.sends) change(send);
  return JSON.stringify(cases);
}
