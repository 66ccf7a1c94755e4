import { describe, expect, it } from 'vitest';
import {
  capTraceback,
  faultOf,
  MAX_TRACEBACK_BYTES,
  statusErrorFromFault,
} from '../../../lib/core/envelope/fault.ts';
import { utf8Bytes } from '../../../lib/core/text/utf8.ts';

const CUT = '\n... cut ...\n';

describe('a traceback', () => {
  it.each([
    ['that is empty', ''],
    ['of one line', 'at line 1'],
    ['of 8 KB', 'x'.repeat(8_192)],
    ['of 8 KB in characters of two bytes', 'é'.repeat(4_096)],
    ['of nearly 8 KB in characters of three bytes', '€'.repeat(2_730)],
    ['of 8 KB in surrogate pairs', '\u{1f600}'.repeat(2_048)],
  ])('%s is kept', (_what, traceback) => {
    expect(capTraceback(traceback)).toBe(traceback);
  });

  it('above 8 KB keeps its head and tail', () => {
    expect(MAX_TRACEBACK_BYTES).toBe(8_192);
    const capped = capTraceback(`${'h'.repeat(5_000)}${'t'.repeat(5_000)}`);
    expect(capped).toBe(`${'h'.repeat(4_089)}${CUT}${'t'.repeat(4_089)}`);
    expect(utf8Bytes(capped)).toBeLessThanOrEqual(MAX_TRACEBACK_BYTES);
  });

  it('is cut to the given limit', () => {
    expect(capTraceback('x'.repeat(33), 33)).toBe('x'.repeat(33));
    expect(capTraceback(`${'h'.repeat(20)}${'t'.repeat(20)}`, 33)).toBe(
      `${'h'.repeat(10)}${CUT}${'t'.repeat(10)}`,
    );
  });

  it.each([
    ['one byte too long', 'x'.repeat(8_193)],
    ['one character of two bytes too long', 'é'.repeat(4_097)],
    ['characters of three bytes', '€'.repeat(2_731)],
    ['surrogate pairs', '\u{1f600}'.repeat(2_049)],
    ['very long', 'é€\u{1f600}'.repeat(100_000)],
  ])('%s is cut between characters', (_what, traceback) => {
    const capped = capTraceback(traceback);
    expect(capped).toContain(CUT);
    expect(capped.isWellFormed()).toBe(true);
    expect(utf8Bytes(capped)).toBeLessThanOrEqual(MAX_TRACEBACK_BYTES);
    expect(utf8Bytes(capped)).toBeGreaterThan(MAX_TRACEBACK_BYTES - 16);
    const [head = '', tail = ''] = capped.split(CUT);
    expect(traceback.startsWith(head)).toBe(true);
    expect(traceback.endsWith(tail)).toBe(true);
  });

  it('is limited in status.error; type, mro and message are not', () => {
    const long = 'x'.repeat(9_000);
    expect(
      statusErrorFromFault({ type: long, mro: [long], message: long, traceback: long, httpStatus: 500 }),
    ).toEqual({
      type: long,
      mro: [long],
      message: long,
      traceback: `${'x'.repeat(4_089)}${CUT}${'x'.repeat(4_089)}`,
    });
  });

  it('is empty for faults of the sidecar', () => {
    expect(faultOf('A', 'm')).toEqual({ type: 'A', mro: [], message: 'm', traceback: '' });
  });
});
