import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { writeFive } from '../local/a-mesh.ts';
import { aFolder } from '../support/a-folder.ts';
import { asya } from './run-asya.ts';

/** Calls that `asya dev` rejects before it starts anything. */

function aMesh(pid?: number): { cwd: string; kept: string } {
  const cwd = aFolder({});
  writeFive(join(cwd, 'five'), ['a']);
  const home = join(cwd, '.asya', 'five');
  const kept = join(home, 'data', 'kept');
  mkdirSync(join(home, 'data'), { recursive: true });
  writeFileSync(kept, '');
  if (pid !== undefined) writeFileSync(join(home, 'mesh.json'), JSON.stringify({ name: 'five', pid }));
  return { cwd, kept };
}

describe('asya dev', () => {
  it.each([
    [['--gateway-port', '80000'], 'asya: --gateway-port is "80000"; expected a whole number from 1 to 65535'],
    [['--sqs-port', 'x'], 'asya: --sqs-port is "x"; expected a whole number from 1 to 65535'],
    [['--dynamodb-port', '0'], 'asya: --dynamodb-port is "0"; expected a whole number from 1 to 65535'],
    [['--replicas', '1001'], 'asya: --replicas is "1001"; expected a whole number from 1 to 1000'],
    [['--transport', 'kafka'], 'asya: --transport is "kafka"; expected one of sqs, pubsub'],
    [['--log-level', 'loud'], 'asya: --log-level is "loud"; expected one of debug, info, warn, error'],
  ])('rejects %j in one line, and deletes no data', async (options, message) => {
    const { cwd, kept } = aMesh();
    const run = await asya(['dev', 'five', '--fresh', ...options], { cwd });
    expect(run).toMatchObject({ status: 2, out: '', err: message });
    expect(existsSync(kept)).toBe(true);
  });

  it('rejects a mesh that is already running, and names the process and the file', async () => {
    const { cwd, kept } = aMesh(process.ppid);
    const run = await asya(['dev', 'five', '--fresh'], { cwd });
    expect(run).toMatchObject({
      status: 2,
      err: `asya: the mesh "five" is already running as process ${process.ppid}; stop it first, or start this one from another folder (if that process is not a mesh, delete .asya/five/mesh.json)`,
    });
    expect(existsSync(kept)).toBe(true);
  });

  it('ignores a mesh file with its own process id, as after a restart in a container', async () => {
    const { cwd } = aMesh(process.pid);
    const run = await asya(['dev', 'five', '--replicas', 'x'], { cwd });
    expect(run.err).toBe('asya: --replicas is "x"; expected a whole number from 1 to 1000');
  });
});
