import { expect, it } from 'vitest';
import { inspectionOf, openInspections } from '../../../lib/local/mesh/mesh-inspections.ts';
import { aFolder } from '../../support/a-folder.ts';
import { manifestIn, writeFive } from '../a-mesh.ts';

function aManifest() {
  const folder = aFolder({});
  writeFive(folder, ['a']);
  return { folder, manifest: manifestIn(folder) };
}

it('opens a port for each actor, and does not use it after a change of the language', async () => {
  const { folder, manifest } = aManifest();
  const opened = await openInspections({
    manifest,
    inspect: [{ actor: 'a' }],
    folder,
    python: () => undefined,
    onChange: () => {},
  });
  if ('problem' in opened) throw new Error(opened.problem);
  const { inspections } = opened;
  const inspection = inspections.get('a');
  expect(inspection).toMatchObject({ actor: 'a', language: 'node' });
  expect(inspection?.port).toBeGreaterThanOrEqual(9229);
  const [spec] = manifest.actors;
  if (spec === undefined) throw new Error('the manifest has no actor');
  expect(inspectionOf(spec, inspections)).toEqual({ inspection });
  expect(inspectionOf({ ...spec, name: 'b' }, inspections)).toEqual({});
  const changed = { ...spec, runtime: { kind: 'python' as const, handler: 'step.step' } };
  expect(inspectionOf(changed, inspections)).toEqual({
    warning:
      'actor "a" cannot be inspected any more, because the language of its handler has changed; start the mesh again',
  });
  await inspection?.close();
});

it('is a problem without Python', async () => {
  const { folder, manifest } = aManifest();
  const actors = manifest.actors.map((spec) => ({
    ...spec,
    runtime: { kind: 'python' as const, handler: 'step.step' },
  }));
  const inspect = [{ actor: 'a' }];
  const opened = await openInspections({
    manifest: { ...manifest, actors },
    inspect,
    folder,
    python: () => ({ problem: 'its Python does not exist' }),
    onChange: () => {},
  });
  expect(opened).toEqual({
    problem: 'Python actor "a" cannot be inspected: its Python does not exist',
  });
});
