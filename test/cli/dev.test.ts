import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { writeFive } from '../local/a-mesh.ts';
import { aFolder } from '../support/a-folder.ts';
import { asya } from './a-terminal.ts';

/** What `asya dev` refuses before anything is started. */

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
    [['--gateway-port', '80000'], 'asya: --gateway-port is "80000"; it takes a whole number from 1 to 65535'],
    [['--sqs-port', 'x'], 'asya: --sqs-port is "x"; it takes a whole number from 1 to 65535'],
    [['--dynamodb-port', '0'], 'asya: --dynamodb-port is "0"; it takes a whole number from 1 to 65535'],
    [['--replicas', '1001'], 'asya: --replicas is "1001"; it takes a whole number from 1 to 1000'],
    [['--transport', 'kafka'], 'asya: --transport is "kafka"; a mesh on this machine runs on sqs or pubsub'],
    [['--log-level', 'loud'], 'asya: --log-level is "loud"; it takes one of debug, info, warn, error'],
  ])('refuses %j in a line, and throws nothing away for it', async (options, words) => {
    const { cwd, kept } = aMesh();
    const run = await asya(['dev', 'five', '--fresh', ...options], { cwd });
    expect(run).toMatchObject({ status: 2, out: '', err: words });
    expect(existsSync(kept)).toBe(true);
  });

  it('refuses a mesh that runs already, with the process, and what to do where that is something else', async () => {
    const { cwd, kept } = aMesh(process.ppid);
    const run = await asya(['dev', 'five', '--fresh'], { cwd });
    expect(run).toMatchObject({
      status: 2,
      err: `asya: the mesh "five" runs already, as process ${process.ppid}; stop it first, or start this one from another folder (if that process is something else, remove .asya/five/mesh.json)`,
    });
    expect(existsSync(kept)).toBe(true);
  });

  it('does not take itself for another: in a container a killed mesh and the next have the same number', async () => {
    const { cwd } = aMesh(process.pid);
    const run = await asya(['dev', 'five', '--replicas', 'x'], { cwd });
    expect(run.err).toBe('asya: --replicas is "x"; it takes a whole number from 1 to 1000');
  });
});
