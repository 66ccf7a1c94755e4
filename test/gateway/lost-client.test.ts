import { once } from 'node:events';
import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { mountFaces } from '../../lib/assembly/from-config/mount-faces.ts';
import { type Listening, serveGateway } from '../../lib/assembly/hosts/serve-gateway.ts';
import { MY_KEY, type Served, serveGateway as serveFace } from './a-served-gateway.ts';

let served: Served;
let listening: Listening;
let begun = 0;
let ended = 0;

beforeAll(async () => {
  served = await serveFace();
  const { face, gateway, told } = served;
  const log = { ...told, line: told.step } as never;
  mountFaces(face, { gateway, origins: [], keepAliveMs: 15_000, log });
  const fetch: typeof face.app.fetch = async (...request) => {
    begun++;
    try {
      return await face.app.fetch(...request);
    } finally {
      ended++;
    }
  };
  listening = await serveGateway({ ...face, app: { fetch } as never }, 0, '127.0.0.1');
});
afterAll(async () => {
  await listening.close();
  await served.close();
});

describe('a client that disconnects in the middle of its body', () => {
  it.each([
    ['a flow', '/flows/hello'],
    ['MCP', '/mcp'],
    ['A2A', '/a2a'],
    ['reports', '/reports'],
  ])('of %s is not a bug', async (_what, path) => {
    const before = served.told.troubles.length;
    const [begunBefore, endedBefore] = [begun, ended];
    const socket = connect(listening.port, '127.0.0.1');
    await once(socket, 'connect');
    const head = [
      `POST ${path} HTTP/1.1`,
      `host: 127.0.0.1:${listening.port}`,
      `authorization: Bearer ${MY_KEY}`,
      'content-type: application/json',
      'content-length: 1000',
    ];
    socket.write(`${head.join('\r\n')}\r\n\r\n{"half":`);
    await expect.poll(() => begun).toBe(begunBefore + 1);
    socket.destroy();
    await expect.poll(() => ended).toBe(endedBefore + 1);
    expect(served.told.troubles.slice(before)).toEqual([]);
  });

  it('leaves the gateway at work', async () => {
    const response = await fetch(`http://127.0.0.1:${listening.port}/healthz`);
    expect(response.status).toBe(200);
  });
});
