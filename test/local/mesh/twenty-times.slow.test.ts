import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { startMesh } from '../../../lib/local/mesh/mesh.ts';
import { isAlive } from '../../support/pids.ts';
import { manifestIn, outsideOf, writeFive } from '../a-mesh.ts';

const TIMES = 20;

test('leaves no process, port or file behind after twenty starts and stops', {
  timeout: 600_000,
}, async () => {
  const home = mkdtempSync(join(tmpdir(), 'asya-twenty-'));
  const folder = join(home, 'five');
  writeFive(folder);
  const dataDir = join(home, 'data');
  // A separate folder for temporary files, because other processes use the default one.
  const temporary = join(home, 'tmp');
  mkdirSync(temporary);
  vi.stubEnv('TMPDIR', temporary);
  const handles = process.getActiveResourcesInfo().length;
  const pids = new Set<number>();
  for (let time = 0; time < TIMES; time++) {
    const started = await startMesh({
      manifest: manifestIn(folder),
      folder,
      dataDir,
      replicas: 1,
      onEvent: () => {},
    });
    if ('problem' in started) throw new Error(started.problem);
    const { mesh } = started;
    // Every second time the mesh is stopped while it is still starting.
    if (time % 2 === 0) {
      const outside = outsideOf(mesh.variables);
      await outside.send(['a', 'b', 'c', 'd', 'e'], `time-${time}`);
      await outside.untilEnded(`time-${time}`, 60_000);
      await outside.close();
    }
    for (const pid of mesh.pids()) pids.add(pid);
    await mesh.close(1_000);
    for (const name of ['ASYA_SQS_ENDPOINT', 'ASYA_DYNAMODB_ENDPOINT']) {
      await expect(fetch(mesh.variables[name] ?? '')).rejects.toThrow();
    }
  }
  expect(pids.size).toBeGreaterThanOrEqual(5 * TIMES);
  expect([...pids].filter(isAlive)).toEqual([]);
  expect(readdirSync(temporary)).toEqual([]);
  // Sockets close asynchronously.
  await expect.poll(() => process.getActiveResourcesInfo().length).toBeLessThanOrEqual(handles + 5);
  rmSync(home, { recursive: true, force: true });
  expect(existsSync(home)).toBe(false);
});
