import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { actorText } from '../config/manifest/a-mesh.ts';
import { plainEnvironment, ROOT } from '../sidecar/sidecar-process.ts';
import { aFolder } from '../support/a-folder.ts';

interface Run {
  readonly status: number;
  readonly out: string;
  readonly err: string;
}

/** `asya validate` in a child process. */
function validate(cwd: string, ...args: readonly string[]): Promise<Run> {
  const command = [join(ROOT, 'bin/asya.js'), 'validate', ...args];
  return new Promise((resolve) => {
    execFile(process.execPath, command, { cwd, env: plainEnvironment({}) }, (error, out, err) => {
      resolve({ status: error === null ? 0 : Number(error.code), out, err });
    });
  });
}

const ACTORS = {
  'download.yaml': actorText('download', 'handler: steps.download'),
  'rest.yaml': `${actorText('enhance', 'handler: steps.enhance')}---\n${actorText('upload', 'handler: upload.ts.upload')}`,
  'steps.py': 'def download(payload): pass\n\ndef enhance(payload): pass\n',
  'upload.ts': 'export const upload = () => {};\n',
};
const FLOWS = 'flows:\n- {name: image, entrypoint: download, route_next: [enhance, upload], timeout: 900}\n';

describe('asya validate', () => {
  it('prints one line for a valid mesh', async () => {
    const folder = aFolder({ ...ACTORS, 'flows.yaml': FLOWS });
    expect(await validate(folder)).toEqual({ status: 0, out: '3 actors, 1 flow: valid\n', err: '' });
    expect(await validate('/', folder)).toMatchObject({ status: 0, out: '3 actors, 1 flow: valid\n' });
  });

  it('prints warnings, and exits with 0', async () => {
    const folder = aFolder({ ...ACTORS, 'flows.yaml': FLOWS.replace('900', '200') });
    const { status, out, err } = await validate(folder);
    expect([status, out]).toEqual([0, '3 actors, 1 flow: valid, with 1 warning\n']);
    expect(err).toMatch(/^ {2}warning: flows\.yaml:2:\d+ flows\[0\]\.timeout: is 200 .*"download"/);
  });

  it('prints one line per mistake, and exits with 2', async () => {
    const folder = aFolder({
      ...ACTORS,
      'flows.yaml': FLOWS.replace('upload]', 'uplod]').replace('900', '200'),
      'typo.yaml': actorText('typo', 'handler: stepz.typo', 'memry: 1Gi'),
    });
    const { status, out, err } = await validate(folder);
    expect([status, out]).toEqual([2, '']);
    expect(err.trimEnd().split('\n')).toEqual([
      'asya: 3 mistakes in the mesh',
      expect.stringMatching(/^ {2}flows\.yaml:2:\d+ flows\[0\]\.route_next\[1\]: .*did you mean "upload"\?$/),
      expect.stringMatching(/^ {2}typo\.yaml:6:3 spec\.handler: .*did you mean "steps"\?$/),
      expect.stringMatching(/^ {2}typo\.yaml:7:3 spec\.memry: .*did you mean "memory"\?$/),
      expect.stringMatching(/^ {2}warning: flows\.yaml/),
    ]);
  });

  it('uses the singular for one mistake', async () => {
    const folder = aFolder({});
    const { status, err } = await validate(folder, 'nowhere');
    expect([status, err]).toEqual([
      2,
      `asya: 1 mistake in the mesh\n  ${folder}/nowhere: is not an existing folder\n`,
    ]);
  });

  it('prints JSON', async () => {
    const valid = await validate(
      aFolder({ ...ACTORS, 'flows.yaml': FLOWS, 'compose.yaml': 'services: [' }),
      '--json',
    );
    expect([valid.status, valid.err]).toEqual([0, '']);
    expect(JSON.parse(valid.out)).toEqual({
      isFine: true,
      actors: ['download', 'enhance', 'upload'],
      flows: ['image'],
      mistakes: [],
      warnings: [],
      ignored: ['compose.yaml'],
    });
    const wrong = await validate(aFolder({ 'a.yaml': actorText('a', 'url: nowhere') }), '--json');
    expect([wrong.status, wrong.err]).toEqual([2, '']);
    expect(JSON.parse(wrong.out)).toEqual({
      isFine: false,
      mistakes: [
        {
          place: 'a.yaml:6:3 spec.url',
          problem: 'is "nowhere"; expected a URL like "http://127.0.0.1:8080/invoke"',
          file: 'a.yaml',
          line: 6,
          column: 3,
        },
      ],
      warnings: [],
      ignored: [],
    });
  });

  it('prints help with an example, and rejects unknown options', async () => {
    const help = await validate('/', '--help');
    expect(help.status).toBe(0);
    expect(help.out).toContain('asya validate examples/my-mesh');
    expect(await validate('/', '--jsno')).toMatchObject({ status: 2, out: '' });
  });
});
