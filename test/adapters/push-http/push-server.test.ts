import { once } from 'node:events';
import { connect } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import {
  type PushRequest,
  type PushServer,
  type PushServerOptions,
  pushServer,
} from '../../../lib/adapters/push-http/push-server.ts';

const servers: PushServer[] = [];
afterEach(() => Promise.all(servers.splice(0).map((server) => server.close())));

async function aServer(options: Partial<PushServerOptions> = {}) {
  const warnings: string[] = [];
  const server = await pushServer({
    host: '127.0.0.1',
    port: 0,
    refuse: async () => undefined,
    onPush: async () => ({ status: 204 }),
    liveness: () => undefined,
    onWarning: (what) => warnings.push(what),
    ...options,
  });
  servers.push(server);
  const url = `http://127.0.0.1:${server.port}/`;
  const post = async (body: string | Uint8Array<ArrayBuffer>) =>
    (await fetch(url, { method: 'POST', body })).status;
  return { server, url, post, warnings };
}

const sleep = (milliseconds: number) => new Promise((resolve) => setTimeout(resolve, milliseconds));

describe('the push server', () => {
  it('measures how long the authorization of a push took', async () => {
    const arrivals: PushRequest[] = [];
    const { post } = await aServer({
      refuse: () => sleep(100).then(() => undefined),
      onPush: async (_, arrival) => {
        arrivals.push(arrival);
        return { status: 204 };
      },
    });
    expect(await post('{}')).toBe(204);
    expect(arrivals[0]?.tookMs).toBeGreaterThanOrEqual(95);
  });

  it('refuses a body that is too large, and reads it to its end', async () => {
    const { post } = await aServer();
    expect(await post(new Uint8Array(16 * 1024 * 1024 + 1))).toBe(413);
  });

  it('answers 500 if the handler throws, and keeps running', async () => {
    const { post, warnings } = await aServer({
      onPush: async (body) => {
        if (body === 'bug') throw new Error('unexpected');
        return { status: 204 };
      },
    });
    expect(await post('bug')).toBe(500);
    expect(warnings).toContain('internal error');
    expect(await post('fine')).toBe(204);
  });

  it('keeps running if a caller disconnects in the middle of a body', async () => {
    const authorizing = Promise.withResolvers<undefined>();
    const { server, post } = await aServer({
      refuse: async () => {
        authorizing.resolve(undefined);
        return undefined;
      },
    });
    const socket = connect(server.port, '127.0.0.1');
    socket.write('POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 100\r\n\r\nhalf');
    await authorizing.promise;
    socket.destroy();
    await once(socket, 'close');
    expect(await post('fine')).toBe(204);
  });

  it('refuses new pushes while it drains, and waits for those in flight', async () => {
    const entered = Promise.withResolvers<void>();
    const finish = Promise.withResolvers<void>();
    const { server, post } = await aServer({
      onPush: async () => {
        entered.resolve();
        await finish.promise;
        return { status: 204 };
      },
    });
    const first = post('first');
    await entered.promise;
    const drained = server.drain();
    expect(await post('second')).toBe(503);
    finish.resolve();
    expect(await first).toBe(204);
    await drained;
  });
});
