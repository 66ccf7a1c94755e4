import { execFileSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { mroOf } from '../../lib/assembly/simulation/known-errors.ts';
import { errorObjectFrom } from '../../runtimes/node/error-object.ts';
import { PYTHON } from '../sidecar/sidecar-process.ts';

/** Python's built-in exceptions with their `__mro__`. */
const FROM_PYTHON: Readonly<Record<string, readonly string[]>> = JSON.parse(
  execFileSync(PYTHON, [
    '-c',
    `import builtins, json
kinds = [k for k in vars(builtins).values() if isinstance(k, type) and issubclass(k, Exception)]
groups = getattr(builtins, "BaseExceptionGroup", Warning)
plain = [k for k in kinds if k.__name__[0] != "_" and not issubclass(k, (Warning, groups))]
print(json.dumps({k.__name__: [a.__name__ for a in k.__mro__] for k in plain}))`,
  ]).toString(),
);

const PYTHON_TAIL = ['Exception', 'BaseException', 'object'];

describe('mroOf', () => {
  it("knows Python's built-in exceptions", () => {
    const names = Object.keys(FROM_PYTHON);
    expect(names).toContain('UnicodeDecodeError');
    const known = Object.fromEntries(names.map((name) => [name, mroOf(name, [], 'python')]));
    expect(known).toEqual(FROM_PYTHON);
  });

  it("agrees with Node's runtime", () => {
    const thrown = [
      new Error('e'),
      new TypeError('e'),
      new RangeError('e'),
      new AggregateError([]),
      new DOMException('e', 'AbortError'),
      new DOMException('e', 'TimeoutError'),
    ];
    for (const one of thrown) {
      const { type, mro } = errorObjectFrom(one);
      expect(mroOf(type, [], 'node'), type).toEqual(mro);
    }
  });

  it('derives unknown errors from Exception', () => {
    expect(mroOf('pkg.Own', [], 'python')).toEqual(['pkg.Own', ...PYTHON_TAIL]);
    expect(mroOf('Own', [], 'node')).toEqual(['Own', 'Error', 'Exception']);
    expect(mroOf('json.decoder.JSONDecodeError', [], 'image')).toEqual([
      'json.decoder.JSONDecodeError',
      'ValueError',
      ...PYTHON_TAIL,
    ]);
    expect(mroOf('Exception', [], 'url')).toEqual(PYTHON_TAIL);
    expect(mroOf('BaseException', [], 'python')).toEqual(['BaseException', 'object']);
    expect(mroOf('SystemExit', [], 'python')).toEqual(['SystemExit', 'BaseException', 'object']);
    expect(mroOf('asyncio.CancelledError', [], 'python')).toEqual([
      'asyncio.CancelledError',
      'BaseException',
      'object',
    ]);
    expect(mroOf('SystemExit', [], 'node')).toEqual(['SystemExit', 'Error', 'Exception']);
  });

  it('uses the given ancestors', () => {
    expect(mroOf('KeyError', ['Mine', 'Exception'], 'python')).toEqual(['KeyError', 'Mine', ...PYTHON_TAIL]);
    expect(mroOf('KeyError', ['Mine'], 'node')).toEqual(['KeyError', 'Mine', 'Error', 'Exception']);
  });
});
