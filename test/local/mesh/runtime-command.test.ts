import { describe, expect, it } from 'vitest';
import { runtimeCommand } from '../../../lib/local/mesh/runtime-command.ts';

describe('the command of a local runtime', () => {
  it('uses the current Node or the given Python', () => {
    expect(runtimeCommand({ kind: 'node', handler: 'a.ts.f' }, undefined)).toEqual({
      command: expect.stringContaining(process.execPath),
    });
    expect(
      runtimeCommand({ kind: 'python', handler: 'a.f' }, { python: '/opt/python3', version: '3.12.1' }),
    ).toEqual({
      command: expect.stringMatching(/^exec '\/opt\/python3' '.*asya_start\.py' 'a\.f'$/),
    });
  });

  it('contains the options of the interpreter, in front of the program', () => {
    expect(runtimeCommand({ kind: 'node', handler: 'a.ts.f' }, undefined, ['--import', 'x'])).toEqual({
      command: expect.stringContaining(` '--import' 'x' '/`),
    });
    expect(
      runtimeCommand({ kind: 'python', handler: 'a.f' }, { python: '/opt/python3', version: '3.12.0' }, [
        '-X',
        'y',
      ]),
    ).toEqual({
      command: expect.stringContaining("exec '/opt/python3' '-X' 'y' '/"),
    });
  });

  it('is empty for a runtime with a url', () => {
    expect(runtimeCommand({ kind: 'url', url: 'http://127.0.0.1:1/' }, undefined)).toEqual({});
  });

  it('is a problem without Python and for images', () => {
    const problem = 'Python was not found';
    expect(runtimeCommand({ kind: 'python', handler: 'a.f' }, { problem })).toEqual({ problem });
    expect(runtimeCommand({ kind: 'image', image: 'example/a:1' }, undefined)).toEqual({
      problem:
        'it runs in the image "example/a:1", and a local mesh does not run images; run the image yourself and set spec.url',
    });
  });
});
