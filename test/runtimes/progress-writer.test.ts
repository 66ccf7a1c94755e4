import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import { onFrames } from '../../runtimes/node/server/frames.ts';
import { progressWriter } from '../../runtimes/node/server/progress-writer.ts';

/** Both ends of a real connection. */
async function aConnection(): Promise<{ readonly runtime: Socket; readonly sidecar: Socket }> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { readonly port: number };
  const sidecar = connect(port, '127.0.0.1');
  const [runtime] = (await once(server, 'connection')) as [Socket];
  onTestFinished(() => {
    sidecar.destroy();
    runtime.destroy();
    server.close();
  });
  return { runtime, sidecar };
}

/** The frames that arrive until the connection ends. */
async function framesOn(socket: Socket): Promise<readonly string[]> {
  const frames: string[] = [];
  await new Promise<void>((resolve) =>
    onFrames(socket, 1_000_000, (frame) => frames.push(frame.toString()), resolve),
  );
  return frames;
}

const LARGE = JSON.stringify('x'.repeat(100_000));
const head = (update: object) => JSON.stringify({ kind: 'progress', ...update });

/** Sends until the connection, which nobody reads, is full. */
function fill(writer: ReturnType<typeof progressWriter>, runtime: Socket): number {
  let sent = 0;
  while (!runtime.writableNeedDrain) {
    writer.send({ percent: 1 }, LARGE);
    sent += 1;
  }
  return sent;
}

it('sends each update while the connection accepts them', async () => {
  const { runtime, sidecar } = await aConnection();
  const writer = progressWriter(runtime);
  writer.send({ percent: 1 }, '');
  writer.send({ percent: 2 }, '[2]');
  runtime.end();
  expect(await framesOn(sidecar)).toEqual([head({ percent: 1 }), '', head({ percent: 2 }), '[2]']);
});

it('keeps the last value of each field while the connection is full, and sends it later', async () => {
  const { runtime, sidecar } = await aConnection();
  const writer = progressWriter(runtime);
  const sent = fill(writer, runtime);
  const buffered = runtime.writableLength;
  for (let percent = 2; percent <= 1000; percent++)
    writer.send(percent === 5 ? { percent, message: 'five' } : { percent }, percent === 7 ? '[7]' : '');
  expect(runtime.writableLength).toBe(buffered);
  runtime.once('drain', () => runtime.end());
  const frames = await framesOn(sidecar);
  expect(frames.slice(2 * sent)).toEqual([head({ percent: 1000, message: 'five' }), '[7]']);
});

it('sends what waits before what follows', async () => {
  const { runtime, sidecar } = await aConnection();
  const writer = progressWriter(runtime);
  const sent = fill(writer, runtime);
  writer.send({ percent: 2 }, '');
  writer.flush();
  writer.flush();
  runtime.end();
  expect((await framesOn(sidecar)).slice(2 * sent)).toEqual([head({ percent: 2 }), '']);
});
