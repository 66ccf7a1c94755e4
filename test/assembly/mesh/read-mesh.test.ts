import { symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readMesh } from '../../../lib/assembly/mesh/read-mesh.ts';
import { mistakesText } from '../../../lib/core/text/mistake.ts';
import { actorText } from '../../config/manifest/a-mesh.ts';
import { aFolder } from '../../support/a-folder.ts';

const CODE = 'export const score = () => 1; export const store = score; export class Scorer { score() {} }';
const PYTHON_CODE =
  'def handle(p): pass\nstore = handle\nclass Store:\n  def store(self, p): pass\n  handle = store\nClass = Store()\n';

const NODE = actorText('score', 'handler: score.ts.score');
const PYTHON = actorText('store', 'handler: store.store');

function mistakesIn(folder: string): readonly string[] {
  const reading = readMesh(folder);
  return 'mistakes' in reading ? mistakesText(reading.mistakes).split('\n') : [];
}

function namesIn(folder: string): readonly string[] {
  const reading = readMesh(folder);
  if ('mistakes' in reading) throw new Error(mistakesText(reading.mistakes));
  return reading.manifest.actors.map(({ name, file }) => `${name} in ${file}`);
}

describe("a mesh's folder", () => {
  it('is read one folder deep, without hidden folders and folders of tools', () => {
    const folder = aFolder({
      'score.yaml': NODE,
      'score.ts': CODE,
      'store/actor.yml': PYTHON,
      'store/store.py': PYTHON_CODE,
      'store/deeper/ignored.yaml': 'kind: [',
      'node_modules/a.yaml': 'kind: [',
      'cdk.out/a.yaml': 'kind: [',
      '.asya/a.yaml': 'kind: [',
      '.hidden.yaml': 'kind: [',
      'notes.txt': 'kind: [',
      'flows.yaml': 'flows: [{name: f, entrypoint: score, route_next: [store]}]',
    });
    expect(namesIn(folder)).toEqual(['score in score.yaml', 'store in store/actor.yml']);
  });

  it('may contain links to files', () => {
    const elsewhere = aFolder({ 'score.yaml': NODE });
    const folder = aFolder({ 'score.ts': CODE });
    symlinkSync(join(elsewhere, 'score.yaml'), join(folder, 'score.yaml'));
    expect(namesIn(folder)).toEqual(['score in score.yaml']);
  });

  it('is read once if links lead to its folders again', () => {
    const folder = aFolder({
      'score.yaml': NODE,
      'score.ts': CODE,
      'store/actor.yml': PYTHON,
      'store/store.py': PYTHON_CODE,
    });
    symlinkSync('.', join(folder, 'here'));
    symlinkSync('store', join(folder, 'again'));
    expect(namesIn(folder)).toEqual(['score in score.yaml', 'store in store/actor.yml']);
  });

  it('that does not exist is reported, with the most similar name', () => {
    const folder = aFolder({ 'mesh/score.yaml': NODE });
    expect(mistakesIn(join(folder, 'mehs'))).toEqual([
      `${join(folder, 'mehs')}: is not an existing folder; did you mean "mesh"?`,
    ]);
    expect(mistakesIn(join(folder, 'no/where'))).toEqual([
      `${join(folder, 'no/where')}: is not an existing folder`,
    ]);
    expect(mistakesIn(join(folder, 'mehs/inner'))).toEqual([
      `${join(folder, 'mehs/inner')}: is not an existing folder; did you mean "mesh"?`,
    ]);
  });

  it('that is a file is reported', () => {
    const file = join(aFolder({ 'score.yaml': NODE }), 'score.yaml');
    expect(mistakesIn(file)).toEqual([`${file}: is a file; expected the folder of a mesh`]);
  });

  it('without an actor is reported', () => {
    const empty = aFolder({});
    expect(mistakesIn(empty)).toEqual([
      `${empty}: contains no document of kind "AsyncActor": it has no .yaml files`,
    ]);
    const others = aFolder({
      'compose.yaml': 'services: {}',
      'chart/web.yaml': '{{ x }}',
      'latin.yaml': new Uint8Array([0x61, 0x3a, 0xff]),
    });
    expect(mistakesIn(others)).toEqual([
      `${others}: contains no document of kind "AsyncActor": ignored as files of other tools: compose.yaml, latin.yaml, chart/web.yaml`,
    ]);
    const flows = aFolder({ 'flows.yaml': 'flows: []' });
    expect(mistakesIn(flows)).toEqual([
      `${flows}: contains no document of kind "AsyncActor": none is in flows.yaml`,
    ]);
  });

  it('with unreadable files: they are reported together with all other mistakes', () => {
    const folder = aFolder({
      'bad.yaml': new Uint8Array([...Buffer.from('kind: AsyncActor # '), 0xff]),
      'score.yaml': actorText('score', 'handler: gone.ts.score'),
    });
    const lines = mistakesIn(folder);
    expect(lines[0]).toMatch(/^bad\.yaml: cannot be read: /);
    expect(lines.at(-1)).toMatch(
      /^score\.yaml:6:3 spec\.handler: is "gone\.ts\.score", but the file "gone\.ts" does not exist/,
    );
  });
});

describe("a handler's file", () => {
  const HERE = { 'score.ts': CODE, 'handlers/Store.mjs': CODE, 'store.py': PYTHON_CODE };
  const PACKAGES = {
    'whole/__init__.py': PYTHON_CODE,
    'whole/inner.py': PYTHON_CODE,
    'bare/inner.py': PYTHON_CODE,
    'bare/deeper/leaf.py': PYTHON_CODE,
  };

  it.each([
    'score.ts.score',
    './score.ts.Scorer.score',
    'handlers/Store.mjs.store',
    'store.store',
    'store.Store.store',
    'whole.handle',
    'whole.Class.handle',
    'whole.inner.handle',
    'whole.inner.Class.handle',
    'bare.inner.handle',
    'bare.deeper.leaf.handle',
  ])('exists: %s', (handler) => {
    const folder = aFolder({ ...HERE, ...PACKAGES, 'a.yaml': actorText('a', `handler: ${handler}`) });
    expect(mistakesIn(folder)).toEqual([]);
  });

  it.each([
    [
      'scores.ts.score',
      'but the file "scores.ts" does not exist next to this document; did you mean "score.ts"?',
    ],
    [
      'handlers/store.mjs.s',
      'but the file "handlers/store.mjs" does not exist next to this document; did you mean "Store.mjs"?',
    ],
    ['nowhere/store.ts.s', 'but the file "nowhere/store.ts" does not exist next to this document'],
    [
      'stroe.store',
      'but the module "stroe" ("stroe.py") does not exist next to this document; did you mean "store"?',
    ],
    [
      'bare.iner.handle',
      'but the module "bare.iner" ("bare/iner.py") does not exist next to this document; did you mean "inner"?',
    ],
    [
      'bare.handle',
      'but "bare" is a folder without "__init__.py"; add the name of the module; did you mean "bare.inner.handle"?',
    ],
  ])('does not exist: %s', (handler, message) => {
    const folder = aFolder({ ...HERE, ...PACKAGES, 'a.yaml': actorText('a', `handler: ${handler}`) });
    expect(mistakesIn(folder)).toEqual([`a.yaml:6:3 spec.handler: is "${handler}", ${message}`]);
  });

  it('is reported if its name is not a valid file name', () => {
    const handler = `"${'a'.repeat(300)}\\0.ts.score"`;
    const folder = aFolder({ 'a.yaml': actorText('a', `handler: ${handler}`) });
    expect(mistakesIn(folder)).toEqual([
      expect.stringMatching(/^a\.yaml:6:3 spec\.handler: is "a+.*but the file "a+.*does not exist/),
    ]);
  });

  it('is searched in the folder of its document', () => {
    const folder = aFolder({
      'deep/a.yaml': NODE,
      'deep/score.ts': CODE,
      'b.yaml': PYTHON,
      'deep/store.py': PYTHON_CODE,
    });
    expect(mistakesIn(folder)).toEqual([
      expect.stringContaining('b.yaml:6:3 spec.handler: is "store.store"'),
    ]);
  });

  it('is not searched if the actor has an image or a URL', () => {
    const folder = aFolder({
      'a.yaml': `${actorText('a', '{image: i, handler: gone.gone}')}---\n${actorText('b', 'url: http://b/')}`,
    });
    expect(namesIn(folder)).toHaveLength(2);
  });
});
