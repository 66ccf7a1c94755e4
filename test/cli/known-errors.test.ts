import { execFileSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { ancestorsOf } from '../../lib/cli/known-errors.ts';
import { errorObjectFrom } from '../../runtimes/node/error-object.ts';
import { PYTHON } from '../sidecar/sidecar-process.ts';

/** Every exception of Python's own with the ancestors that its runtime tells. */
const FROM_PYTHON: Readonly<Record<string, readonly string[]>> = JSON.parse(
  execFileSync(PYTHON, [
    '-c',
    `import builtins, json
kinds = [k for k in vars(builtins).values() if isinstance(k, type) and issubclass(k, Exception)]
groups = getattr(builtins, "BaseExceptionGroup", Warning)
plain = [k for k in kinds if k.__name__[0] != "_" and not issubclass(k, (Warning, groups))]
print(json.dumps({k.__name__: [a.__name__ for a in k.__mro__[1:] if a not in (object, BaseException)] for k in plain}))`,
  ]).toString(),
);

describe("an error's usual ancestors", () => {
  it("are those of Python's own exceptions", () => {
    const names = Object.keys(FROM_PYTHON);
    expect(names).toContain('UnicodeDecodeError');
    const known = Object.fromEntries(names.map((name) => [name, ancestorsOf(name, [], 'python')]));
    expect(known).toEqual(FROM_PYTHON);
  });

  it("are those that Node's runtime tells", () => {
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
      expect(ancestorsOf(type, [], 'node'), type).toEqual(mro);
    }
  });

  it('end in Exception for all others', () => {
    expect(ancestorsOf('pkg.Own', [], 'python')).toEqual(['Exception']);
    expect(ancestorsOf('Own', [], 'node')).toEqual(['Error', 'Exception']);
    expect(ancestorsOf('json.decoder.JSONDecodeError', [], 'image')).toEqual(['ValueError', 'Exception']);
    expect(ancestorsOf('Exception', [], 'url')).toEqual([]);
  });

  it('are those that were given, where some were', () => {
    expect(ancestorsOf('KeyError', ['Mine', 'Exception'], 'python')).toEqual(['Mine', 'Exception']);
    expect(ancestorsOf('KeyError', ['Mine'], 'node')).toEqual(['Mine', 'Error', 'Exception']);
  });
});
