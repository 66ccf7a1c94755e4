import { once } from 'node:events';
import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { mountFaces } from '../../lib/assembly/from-config/mount-faces.ts';
import { type Listening, serveGateway } from '../../lib/assembly/hosts/serve-gateway.ts';
import { MY_KEY, type ServedFixture, serveGateway as serveFace } from './served-fixture.ts';

let served: ServedFixture;
let listening: Listening;
let begun = 0;
let ended = 0;

beforeAll(async () => {
  served = await serveFace();
  const { face, gateway, telemetry } = served;
  const log = { ...telemetry, line: telemetry.step } as never;
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
  ])('is not logged as an internal error: %s', async (_what, path) => {
    const before = served.telemetry.warnings.length;
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
    expect(served.telemetry.warnings.slice(before)).toEqual([]);
  });

  it('does not affect later requests', async () => {
    const response = await fetch(`http://127.0.0.1:${listening.port}/healthz`);
    expect(response.status).toBe(200);
  });
});
