import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { findPubsubEmulator } from '../../../lib/local/engines/find-pubsub-emulator.ts';
import { descendantNamed, descendantsOf, endDevs, startDev } from '../../cli/dev-process.ts';
import { aFolder } from '../../support/a-folder.ts';
import { listenersOf } from '../../support/listeners.ts';
import { rawAnswer } from '../../support/raw-request.ts';
import { outsideOf, writeFive } from '../a-mesh.ts';
import { FOREIGN_EVERYWHERE } from '../foreign-requests.ts';

afterAll(endDevs);

const emulator = findPubsubEmulator(process.env);
if ('absence' in emulator) console.log(`servers of a mesh on Pub/Sub: skipped, because ${emulator.absence}`);
const TRANSPORTS = ['absence' in emulator ? [] : (['pubsub'] as const), ['sqs'] as const].flat();

describe.skipIf(process.platform !== 'linux').each(TRANSPORTS)('asya dev on %s', (transport) => {
  test('listens on 127.0.0.1 only and refuses web pages', { timeout: 240_000 }, async () => {
    const cwd = aFolder({});
    const folder = join(cwd, 'two');
    writeFive(folder, ['a', 'b']);
    const dev = startDev(cwd, 'two', '--transport', transport);
    const mesh = await dev.untilRunning();
    const outside = outsideOf(mesh.variables);
    await outside.send(['a', 'b'], 'one');
    await outside.untilEnded('one');
    await outside.close();

    const listeners = listenersOf([dev.pid, ...descendantsOf(dev.pid)]);
    expect(new Set(listeners.map(({ address }) => address))).toEqual(new Set(['127.0.0.1']));
    // Engines and gateway; on Pub/Sub also the delayer, and the emulator in its own process.
    const own = listeners.filter(({ pid }) => pid === dev.pid).map(({ port }) => port);
    expect(own).toHaveLength(transport === 'pubsub' ? 4 : 3);
    const others = new Set(listeners.map(({ pid }) => pid).filter((pid) => pid !== dev.pid));
    expect([...others]).toEqual(transport === 'pubsub' ? [descendantNamed(dev.pid, 'java')] : []);

    for (const port of own) {
      const host = `127.0.0.1:${port}`;
      const request = { method: 'POST', headers: [['Host', host]], body: '{}' } as const;
      for (const { what, change } of FOREIGN_EVERYWHERE) {
        const { status, head } = await rawAnswer(port, change(request, host));
        expect({ port, what, status }).toEqual({ port, what, status: 403 });
        expect(head).not.toContain('access-control-');
      }
    }
    dev.signal('SIGTERM');
    await dev.exited;
  });
});
