import { describe, expect, it } from 'vitest';
import { runtimeCommand } from '../../../lib/local/mesh/runtime-command.ts';

describe('how a runtime is started on this machine', () => {
  it('is by the Node that runs us, or by the Python that was found', () => {
    expect(runtimeCommand({ kind: 'node', handler: 'a.ts.f' }, undefined)).toEqual({
      command: expect.stringContaining(process.execPath),
    });
    expect(runtimeCommand({ kind: 'python', handler: 'a.f' }, '/opt/python3')).toEqual({
      command: expect.stringMatching(/^exec '\/opt\/python3' '.*asya_runtime\.py' 'a\.f'$/),
    });
  });

  it("is nobody's business where it runs somewhere else", () => {
    expect(runtimeCommand({ kind: 'url', url: 'http://127.0.0.1:1/' }, undefined)).toEqual({});
  });

  it('is told with what to do where it cannot be', () => {
    expect(runtimeCommand({ kind: 'python', handler: 'a.f' }, undefined)).toEqual({
      problem: 'it is written in Python, and there is no python3 on the PATH; install it and start again',
    });
    expect(runtimeCommand({ kind: 'image', image: 'example/a:1' }, undefined)).toEqual({
      problem: 'it is the image "example/a:1", and images are not run here; give it a url of where it runs',
    });
  });
});
