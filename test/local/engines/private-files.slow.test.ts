import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { findPubsubEmulator } from '../../../lib/local/engines/find-pubsub-emulator.ts';
import { endDevs, startDev } from '../../cli/dev-process.ts';
import { aFolder } from '../../support/a-folder.ts';
import { openToOthers, withUmask } from '../../support/modes.ts';
import { actorYaml, outsideOf } from '../a-mesh.ts';

afterAll(endDevs);

const emulator = findPubsubEmulator(process.env);
if ('absence' in emulator) console.log(`files of a mesh on Pub/Sub: skipped, because ${emulator.absence}`);
const TRANSPORTS = ['absence' in emulator ? [] : (['pubsub'] as const), ['sqs'] as const].flat();

/** The handler fails on request, and writes a file and a folder next to its document. */
const HANDLER = `import { mkdirSync, writeFileSync } from 'node:fs';
export function step({ fail }: { fail?: boolean }) {
  if (fail) throw new Error('requested failure');
  mkdirSync('written');
  writeFileSync('written/file', '');
  return {};
}
`;
const MESH = {
  'mesh/a.yaml': actorYaml('a').replace(
    'actorTimeout: 8s',
    'actorTimeout: 8s, policies: {default: {maxAttempts: 2, backoff: constant, initialDelay: 500ms}}',
  ),
  'mesh/step.ts': HANDLER,
};

/** The state folder as an earlier version may have left it. */
function leaveOpenState(cwd: string): void {
  const folder = join(cwd, '.asya', 'mesh');
  mkdirSync(join(folder, 'data', 'sqs'), { recursive: true });
  for (const name of ['log.jsonl', 'log.jsonl.1', 'data/old']) writeFileSync(join(folder, name), '');
  for (const name of ['..', '.', 'data', 'data/sqs']) chmodSync(join(folder, name), 0o777);
  for (const name of ['log.jsonl', 'log.jsonl.1', 'data/old']) chmodSync(join(folder, name), 0o666);
}

describe.each(TRANSPORTS)('asya dev on %s', (transport) => {
  test("restricts .asya to the current user for any umask, and does not change the handlers' umask", {
    timeout: 240_000,
  }, async () => {
    // On Pub/Sub nothing can be inspected.
    const inspecting = transport === 'sqs' ? ['--inspect', 'a'] : [];
    const cwd = aFolder(MESH);
    const state = join(cwd, '.asya');
    leaveOpenState(cwd);
    const dev = withUmask(0, () => startDev(cwd, 'mesh', '--transport', transport, ...inspecting));
    const outside = outsideOf((await dev.untilRunning()).variables);
    await outside.send(['a'], 'one');
    await outside.send(['a'], 'two', { fail: true });
    expect(await outside.untilEnded('one')).toMatchObject({ end: 'succeeded' });
    expect(await outside.untilEnded('two')).toMatchObject({ end: 'failed' });
    await outside.close();

    const data = join(state, 'mesh', 'data');
    expect(readdirSync(data)).toEqual(
      expect.arrayContaining(['dynamodb', 'sqs', ...(transport === 'pubsub' ? ['timers.db'] : [])]),
    );
    expect(readdirSync(join(data, 'sqs'))).toContain('fauxqs.db-wal');
    expect(openToOthers(state)).toEqual([]);
    // Runtimes write the ports of their debuggers with the handlers' umask, so the folder has to be private.
    const note = join(data, 'sockets.json');
    expect(existsSync(note)).toBe(transport === 'sqs');
    if (transport === 'sqs') {
      const { path } = JSON.parse(readFileSync(note, 'utf8')) as { path: string };
      expect(readdirSync(path)).toEqual(['a.debugger']);
      expect(statSync(path).mode & 0o777).toBe(0o700);
    }

    const modeOf = (name: string) => statSync(join(cwd, 'mesh', name)).mode & 0o777;
    expect(['written', 'written/file'].map(modeOf)).toEqual([0o777, 0o666]);

    dev.signal('SIGTERM');
    await dev.exited;
    expect(openToOthers(state)).toEqual([]);
  });
});
