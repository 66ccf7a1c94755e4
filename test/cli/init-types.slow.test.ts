import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { anInstalledMesh, runScript } from './an-installed-mesh.ts';

it('asya init from a checkout creates a mesh with valid types', { timeout: 300_000 }, async () => {
  const mesh = await anInstalledMesh();
  expect(await runScript(mesh, 'types')).toEqual({ stdout: '', stderr: '' });
  writeFileSync(join(mesh, 'bad.ts'), "import { greet } from './greet.ts';\ngreet({ name: 1 });\n");
  await expect(runScript(mesh, 'types')).rejects.toMatchObject({
    stdout: expect.stringContaining('bad.ts(2,'),
  });
});
