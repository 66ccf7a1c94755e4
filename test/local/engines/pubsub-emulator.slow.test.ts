import { connect } from 'node:net';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { findPubsubEmulator } from '../../../lib/local/engines/find-pubsub-emulator.ts';
import { endProcesses, saying, startProcess, until } from '../../sidecar/sidecar-process.ts';
import { isAlive } from '../../support/pids.ts';
import { PUBSUB_ABSENCE, startPubsub } from '../../support/pubsub.ts';

if (PUBSUB_ABSENCE !== undefined)
  console.log(`start and end of the emulator: skipped, because ${PUBSUB_ABSENCE}`);

afterAll(endProcesses);

describe.skipIf(PUBSUB_ABSENCE !== undefined)('the emulator', { timeout: 240_000 }, () => {
  test('listens on a free port after the start, and ends when it is closed', async () => {
    const [one, other] = await Promise.all([startPubsub(), startPubsub()]);
    expect(one.endpoint).not.toBe(other.endpoint);
    expect(await canConnect(one.endpoint)).toBe(true);
    await Promise.all([one.close(), other.close()]);
    expect(await canConnect(one.endpoint)).toBe(false);
  });

  test('ends with its parent process, even if that was killed', async () => {
    const owner = startProcess([join(import.meta.dirname, '../emulator-process.ts')], {});
    const { pid } = await owner.untilLine(saying('started'), 60_000);
    expect(isAlive(Number(pid))).toBe(true);
    owner.signal('SIGKILL');
    await until(() => !isAlive(Number(pid)), 'the emulator has ended');
  });
});

test('reports a missing jar and does not look for another one', () => {
  expect(findPubsubEmulator({ ...process.env, PUBSUB_EMULATOR_JAR: '/nowhere/emulator.jar' })).toEqual({
    absence: 'PUBSUB_EMULATOR_JAR is "/nowhere/emulator.jar", but this file does not exist',
  });
});

function canConnect(endpoint: string): Promise<boolean> {
  const [host = '', port = ''] = endpoint.split(':');
  return new Promise((resolve) => {
    const socket = connect({ host, port: Number(port) });
    socket.once('connect', () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', () => resolve(false));
  });
}
