import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { App, Stack } from 'aws-cdk-lib';
import { expect, test } from 'vitest';
import { ActorMesh } from '../../infra/constructs/actor-mesh.ts';
import { aFolder } from '../support/a-folder.ts';

test.each(['cdk.out', 'out', 'build/out'])(
  'copies only the handler files into the image if the app writes its output to %s in the same folder',
  (out) => {
    const folder = aFolder({
      'score.py': 'def score(payload): return payload\n',
      'words/de.txt': 'eins\n',
      '.env': 'SECRET=1\n',
      'node_modules/left/index.js': '',
      'build/kept.txt': '',
      '.venv/pyvenv.cfg': '',
      '.venv/lib/python3.12/site-packages/left.py': '',
      'venv/lib/left.py': '',
      'my-environment/pyvenv.cfg': '',
      'my-environment/lib/left.py': '',
    });
    const app = new App({ outdir: join(folder, out) });
    const mesh = new ActorMesh(new Stack(app, 'Hand'), 'Mesh', { namespace: 'dev-hand', folder });
    expect(() => mesh.addActor('scor', { handler: 'scor.score' })).toThrow(
      /the module "scor" \("scor\.py"\) does not exist in ".+"; did you mean "score"\?/,
    );
    mesh.addActor('score', { handler: 'score.score' });
    const code = readdirSync(app.outdir).find((name) => name.endsWith('.score')) ?? '';
    const copied = readdirSync(join(app.outdir, code, 'app'), { recursive: true });
    expect(copied.toSorted()).toEqual(['build', 'build/kept.txt', 'score.py', 'words', 'words/de.txt']);
  },
);

function dockerfileWith(files: Readonly<Record<string, string>>): string {
  const folder = aFolder({ 'score.py': 'def score(payload): return payload\n', ...files });
  const app = new App({ outdir: join(folder, 'cdk.out') });
  const mesh = new ActorMesh(new Stack(app, 'Hand'), 'Mesh', { namespace: 'dev-hand', folder });
  mesh.addActor('score', { handler: 'score.score' });
  const code = readdirSync(app.outdir).find((name) => name.endsWith('.score')) ?? '';
  return readFileSync(join(app.outdir, code, 'Dockerfile'), 'utf8');
}

test('copies local files of requirements.txt into the image before pip runs', () => {
  const oneFile = dockerfileWith({ 'requirements.txt': 'flask\n' });
  expect(oneFile).toMatch(/^COPY app\/requirements\.txt .*\nRUN cd app && .* -r requirements\.txt$/m);
  const withLocalFiles = dockerfileWith({
    'requirements.txt': '-c pins.txt\n./pkg\n',
    'pins.txt': 'flask==3\n',
    'pkg/pyproject.toml': '',
  });
  expect(withLocalFiles).toMatch(/^COPY app \.\/app\nRUN cd app && .* -r requirements\.txt$/m);
  expect(() => dockerfileWith({ 'requirements.txt': '-r ../base.txt\n' })).toThrow(
    /^asya: requirements\.txt of "score" refers to \.\.\/base\.txt, which is not in the image\. .* Move the file into that folder/,
  );
});
