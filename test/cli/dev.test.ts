import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { actorYaml, writeFive } from '../local/a-mesh.ts';
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
    [['--inspect', 'aa'], 'asya: --inspect is "aa", which is not an actor of this mesh; did you mean "a"?'],
    [
      ['--inspect', 'a', '--inspect', 'a=0'],
      'asya: --inspect a=PORT is "0"; expected a whole number from 1 to 65535',
    ],
    [
      ['--inspect', 'a', '--transport', 'pubsub'],
      'asya: --inspect a: the handler of "a" cannot be debugged: with --transport pubsub, timeouts cannot be paused and the broker would deliver the message again; use --transport sqs, which runs the same handler',
    ],
    [['--log-level', 'loud'], 'asya: --log-level is "loud"; expected one of debug, info, warn, error'],
  ])('rejects %j in one line, and deletes no data', async (options, message) => {
    const { cwd, kept } = aMesh();
    const run = await asya(['dev', 'five', '--fresh', ...options], { cwd });
    expect(run).toMatchObject({ status: 2, out: '', err: message });
    expect(existsSync(kept)).toBe(true);
  });

  it.each([
    [
      'url: http://127.0.0.1:8080/',
      'it runs at http://127.0.0.1:8080/, not in a process of this mesh; attach a debugger to that process',
    ],
    [
      'image: example/score:1',
      'it runs in the image "example/score:1", and a local mesh does not run images; run the image with a debugger yourself',
    ],
  ])('cannot debug an actor with %s', async (runtime, why) => {
    const { cwd } = aMesh();
    const text = actorYaml('far').replace('handler: step.ts.step', runtime);
    writeFileSync(join(cwd, 'five', 'far.yaml'), text.replace('  environment: {STEP: far}\n', ''));
    const run = await asya(['dev', 'five', '--inspect', 'far'], { cwd });
    expect(run).toMatchObject({
      status: 2,
      err: `asya: --inspect far: the handler of "far" cannot be debugged: ${why}`,
    });
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
