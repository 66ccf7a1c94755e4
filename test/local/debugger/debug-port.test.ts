import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterEach, describe, expect, it } from 'vitest';
import {
  type DebugPort,
  type DebugPortOptions,
  openDebugPort,
} from '../../../lib/local/debugger/debug-port.ts';
import { ADAPTER_PROTOCOL, INSPECTOR_PROTOCOL } from '../../../lib/local/debugger/debug-protocol.ts';

const closing: (() => void)[] = [];
afterEach(() => {
  for (const close of closing.splice(0)) close();
});

/** A program that answers each connection with this text. */
async function aProgram(answer: string): Promise<{ port: number; received: string[]; sockets: Socket[] }> {
  const received: string[] = [];
  const sockets: Socket[] = [];
  const server = createServer((socket) => {
    sockets.push(socket);
    socket.on('error', () => {});
    socket.on('data', (chunk) => {
      received.push(String(chunk));
      socket.write(answer);
    });
  });
  closing.push(() => {
    server.close();
    for (const socket of sockets) socket.destroy();
  });
  return { port: await portOf(server), received, sockets };
}

async function portOf(server: Server): Promise<number> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}

async function aDebugPort(options: Partial<DebugPortOptions> & Pick<DebugPortOptions, 'target'>) {
  const changes: boolean[] = [];
  const opened: DebugPort = await openDebugPort({
    port: 0,
    isExact: true,
    protocol: INSPECTOR_PROTOCOL,
    onChange: (isAttached) => changes.push(isAttached),
    ...options,
  });
  closing.push(() => void opened.close());
  return { ...opened, changes };
}

function clientOf(port: number, first: string): Socket {
  const socket = connect(port, '127.0.0.1', () => socket.write(first));
  socket.on('error', () => {});
  closing.push(() => socket.destroy());
  return socket;
}

const UPGRADED = 'HTTP/1.1 101 Switching Protocols\r\n\r\n';
const LISTED = 'HTTP/1.0 200 OK\r\n\r\n[]';
const REQUEST = 'GET / HTTP/1.1\r\nHost: evil.example\r\n\r\n';

describe('the port for an inspector', () => {
  it('counts WebSockets, and reports the first and the last one', async () => {
    const program = await aProgram(UPGRADED);
    const { port, changes } = await aDebugPort({ target: () => program.port });
    const first = clientOf(port, REQUEST);
    const second = clientOf(port, REQUEST);
    await Promise.all([once(first, 'data'), once(second, 'data')]);
    expect(changes).toEqual([true]);
    // The inspector checks the host itself.
    expect(program.received).toEqual([REQUEST, REQUEST]);
    first.destroy();
    // Its connection to the program is closed, but the other one is not.
    await expect.poll(() => program.sockets.filter((socket) => socket.destroyed).length).toBe(1);
    expect(changes).toEqual([true]);
    second.destroy();
    await expect.poll(() => changes).toEqual([true, false]);
  });

  it('does not count a request that only lists what can be debugged', async () => {
    const program = await aProgram(LISTED);
    const { port, changes } = await aDebugPort({ target: () => program.port });
    const client = clientOf(port, REQUEST);
    expect(String((await once(client, 'data'))[0])).toBe(LISTED);
    client.destroy();
    await expect.poll(() => program.sockets[0]?.destroyed).toBe(true);
    expect(changes).toEqual([]);
  });

  it('reports that the debugger has left when the process has ended', async () => {
    const program = await aProgram(UPGRADED);
    const { port, changes } = await aDebugPort({ target: () => program.port });
    const client = clientOf(port, REQUEST);
    await once(client, 'data');
    for (const socket of program.sockets) socket.destroy();
    await once(client, 'close');
    await expect.poll(() => changes).toEqual([true, false]);
  });

  it('keeps a client waiting until the process runs again', async () => {
    let target: number | undefined;
    let asked = 0;
    const { port } = await aDebugPort({
      target: () => {
        asked++;
        return target;
      },
    });
    const client = clientOf(port, REQUEST);
    await expect.poll(() => asked).toBeGreaterThan(2);
    // A process that has ended: nobody listens.
    const ended = createServer();
    target = await portOf(ended);
    ended.close();
    const askedBefore = asked;
    await expect.poll(() => asked).toBeGreaterThan(askedBefore + 1);
    target = (await aProgram(UPGRADED)).port;
    expect(String((await once(client, 'data'))[0])).toBe(UPGRADED);
  });
});

describe('the port for debugpy', () => {
  it('counts debuggers', async () => {
    const program = await aProgram('Content-Length: 2\r\n\r\n{}');
    const { port, changes } = await aDebugPort({ target: () => program.port, protocol: ADAPTER_PROTOCOL });
    const client = clientOf(port, 'Content-Length: 2\r\n\r\n{}');
    await once(client, 'data');
    expect(changes).toEqual([true]);
  });

  it('rejects HTTP requests, whose body could contain a message', async () => {
    const program = await aProgram('Content-Length: 2\r\n\r\n{}');
    const { port, changes } = await aDebugPort({ target: () => program.port, protocol: ADAPTER_PROTOCOL });
    const client = clientOf(port, 'POST / HTTP/1.1\r\nContent-Length: 2\r\n\r\n{}');
    expect(await text(client)).toBe('');
    expect(program.received).toEqual([]);
    expect(changes).toEqual([]);
  });
});

describe('a port that is in use', () => {
  it('is an error if only this port will do', async () => {
    const used = await aProgram('');
    const opening = aDebugPort({ target: () => undefined, port: used.port });
    await expect(opening).rejects.toMatchObject({ code: 'EADDRINUSE' });
  });

  it('is skipped otherwise', async () => {
    const used = await aProgram('');
    const { port } = await aDebugPort({ target: () => undefined, port: used.port, isExact: false });
    expect(port).toBeGreaterThan(used.port);
  });
});
