import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { findPubsubEmulator } from '../../../lib/local/engines/find-pubsub-emulator.ts';
import type { LocalMesh, MeshEvent } from '../../../lib/local/mesh/local-mesh.ts';
import { startMesh } from '../../../lib/local/mesh/mesh.ts';
import { descendantNamed } from '../../cli/dev-process.ts';
import { aFolder } from '../../support/a-folder.ts';
import { manifestIn, type Outside, outsideOf } from '../a-mesh.ts';

/** A mesh on Google's emulator, started twice on the same data. */

const emulator = findPubsubEmulator(process.env);
if ('absence' in emulator) console.log(`skipped: a mesh on Pub/Sub; ${emulator.absence}`);

const FILES = {
  'work.yaml': `apiVersion: asya.sh/v1alpha1
kind: AsyncActor
metadata: {name: work}
spec:
  handler: work.mjs.work
  resiliency:
    actorTimeout: 2m
    policies: {default: {maxAttempts: 2, backoff: constant, initialDelay: 500ms}}
`,
  'work.mjs': `import { writeFileSync } from 'node:fs';
export async function work({ fail, takesMs, started, done }) {
  if (fail) throw new Error('requested failure');
  writeFileSync(started, '');
  await new Promise((resolve) => setTimeout(resolve, takesMs));
  writeFileSync(done, '');
  return {};
}
`,
};

interface MeshRun {
  readonly mesh: LocalMesh;
  readonly outside: Outside;
  readonly warnings: readonly string[];
  end(): Promise<void>;
}

async function runMesh(folder: string): Promise<MeshRun> {
  const warnings: string[] = [];
  const onEvent = (event: MeshEvent) => {
    if (event.event === 'warning') warnings.push(event.text);
  };
  const dataDir = join(folder, 'data');
  const manifest = manifestIn(folder);
  const started = await startMesh({ manifest, folder, dataDir, transport: 'pubsub', replicas: 1, onEvent });
  if ('problem' in started) throw new Error(started.problem);
  const { mesh } = started;
  const outside = outsideOf(mesh.variables);
  let ended: Promise<void> | undefined;
  const end = () => {
    ended ??= Promise.all([outside.close(), mesh.close(2_000)]).then(() => {});
    return ended;
  };
  onTestFinished(end);
  return { mesh, outside, warnings, end };
}

describe.skipIf('absence' in emulator)('a mesh on Pub/Sub', () => {
  test('retries after a restart, reports the end of its emulator, and stops in time', {
    timeout: 240_000,
  }, async () => {
    const folder = aFolder(FILES);
    const first = await runMesh(folder);
    await first.outside.send(['work'], 'one', { fail: true });
    expect(await first.outside.untilEnded('one')).toMatchObject({ reason: 'PolicyExhausted' });
    process.kill(descendantNamed(process.pid, 'java'), 'SIGKILL');
    await expect
      .poll(() => first.warnings, { timeout: 60_000 })
      .toContainEqual(expect.stringMatching(/emulator was terminated by SIGKILL.*start it again/));
    await first.end();

    // The new emulator counts its messages from 1 again, and the earlier timers still exist.
    const second = await runMesh(folder);
    await second.outside.send(['work'], 'two', { fail: true });
    expect(await second.outside.untilEnded('two')).toMatchObject({ reason: 'PolicyExhausted' });

    const [started, done] = [join(folder, 'started'), join(folder, 'done')];
    await second.outside.send(['work'], 'three', { takesMs: 25_000, started, done });
    await expect.poll(() => existsSync(started), { timeout: 60_000 }).toBe(true);
    second.mesh.renew('work');
    await second.end();
    expect(existsSync(done), 'a call on a renewed instance must not outlive the grace period').toBe(false);
    expect(second.warnings).toEqual([]);
  });

  test('does not start with timers that cannot be read', {
    timeout: 120_000,
  }, async () => {
    const folder = aFolder({
      ...FILES,
      'data/timers.db': 'not a database, and longer than the header of one',
    });
    const manifest = manifestIn(folder);
    const dataDir = join(folder, 'data');
    const started = await startMesh({
      manifest,
      folder,
      dataDir,
      transport: 'pubsub',
      replicas: 1,
      onEvent: () => {},
    });
    expect(started).toEqual({
      problem: expect.stringMatching(
        /timers\.db cannot be used: .*not a database; repair or remove it, or configure another file/,
      ),
    });
  });
});
