import { existsSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { isAlive, outsideOf, writeFive } from '../local/a-mesh.ts';
import { aFolder } from '../support/a-folder.ts';
import { descendantsOf, endDevs, startDev } from './dev-process.ts';

afterAll(endDevs);

const IN_THREE_SECONDS = 3_000;

describe.each(['SIGINT', 'SIGTERM'] as const)('%s', (signal) => {
  test('ends the mesh with status 0 and leaves nothing but its data', async () => {
    const cwd = aFolder({});
    writeFive(join(cwd, 'five'), ['a', 'b']);
    const dev = startDev(cwd, 'five');
    const mesh = await dev.untilRunning();
    const outside = outsideOf(mesh.variables);
    await outside.send(['a', 'b'], 'one');
    await outside.untilEnded('one', 60_000);
    await outside.close();
    const family = descendantsOf(dev.pid);
    expect(family.length).toBeGreaterThanOrEqual(5);
    const toldAt = performance.now();
    dev.signal(signal);
    expect(await dev.exited).toEqual({ code: 0, signal: null });
    // A bound that users are promised, with room for a machine that has other things to do.
    expect(performance.now() - toldAt).toBeLessThan(3 * IN_THREE_SECONDS);
    await expect.poll(() => family.filter(isAlive), { timeout: 60_000 }).toEqual([]);
    expect(readdirSync(join(cwd, '.asya', 'five')).sort()).toEqual(['data', 'log.jsonl']);
  });
});

test('SIGKILL of the whole mesh in the middle of work: with its data kept, every envelope has its end, once', {
  timeout: 180_000,
}, async () => {
  const cwd = aFolder({});
  writeFive(join(cwd, 'five'), ['a', 'b', 'c']);
  const first = startDev(cwd, 'five');
  const before = outsideOf((await first.untilRunning()).variables);
  const ids = Array.from({ length: 40 }, (_, n) => `e-${n}`);
  for (const id of ids) await before.send(['a', 'b', 'c'], id, id === 'e-7' ? { fail: 'b' } : {});
  await before.untilEnded('e-0', 60_000);
  const family = descendantsOf(first.pid);
  first.signal('SIGKILL');
  await first.exited;
  await before.close();
  await expect.poll(() => family.filter(isAlive), { timeout: 60_000 }).toEqual([]);

  const second = startDev(cwd, 'five');
  const after = outsideOf((await second.untilRunning()).variables);
  for (const id of ids) {
    const end = await after.untilEnded(id, 90_000);
    expect([id, end.end]).toEqual([id, id === 'e-7' ? 'failed' : 'succeeded']);
  }
  for (const id of ids) {
    const ends = await after.stores.records.ofEnvelope(id);
    expect(ends.ok && new Set(ends.records.map(({ identity }) => identity)).size).toBe(1);
  }
  await after.close();
  second.signal('SIGTERM');
  await second.exited;
});

describe('what cannot run is told in a line, without a stack trace', () => {
  const noTrace = (output: string) => expect(output).not.toMatch(/^\s+at .*:\d+:\d+/m);

  test('a manifest with mistakes', async () => {
    const cwd = aFolder({ 'm/a.yaml': 'apiVersion: asya.sh/v1alpha1\nkind: AsyncActr\n' });
    const dev = startDev(cwd, 'm');
    expect((await dev.exited).code).toBe(2);
    expect(dev.output()).toMatch(/a\.yaml:2:1 kind: is "AsyncActr".*did you mean "AsyncActor"/);
    noTrace(dev.output());
  });

  test('a port that is taken', async () => {
    const server = createServer();
    const port = await new Promise<number>((resolve) =>
      server.listen(0, '127.0.0.1', () => resolve((server.address() as { port: number }).port)),
    );
    const cwd = aFolder({});
    writeFive(join(cwd, 'five'), ['a']);
    const dev = startDev(cwd, 'five', '--sqs-port', String(port));
    expect((await dev.exited).code).toBe(1);
    expect(dev.output()).toContain(`port ${port} of 127.0.0.1 is taken`);
    noTrace(dev.output());
    server.close();
    expect(existsSync(join(cwd, '.asya', 'five', 'mesh.json'))).toBe(false);
  });

  test('a handler with a mistake in it, which works as soon as it is mended', {
    timeout: 90_000,
  }, async () => {
    const cwd = aFolder({});
    writeFive(join(cwd, 'five'), ['a']);
    const code = join(cwd, 'five', 'step.ts');
    writeFileSync(code, 'export function step(payload { return payload; }\n');
    const dev = startDev(cwd, 'five');
    const { variables } = await dev.untilRunning();
    await dev.untilSays(/cannot host ".\/step.ts.step": .*step\.ts:1 cannot be read/, 60_000);
    const outside = outsideOf(variables);
    await outside.send(['a'], 'patient');
    rmSync(code);
    writeFive(join(cwd, 'five'), ['a']);
    expect(await outside.untilEnded('patient', 60_000)).toMatchObject({ end: 'succeeded' });
    await outside.close();
    noTrace(dev.output());
    expect(dev.output().match(/cannot host/g)).toHaveLength(1);
    dev.signal('SIGTERM');
    await dev.exited;
  });

  test('a mesh that runs already', async () => {
    const cwd = aFolder({});
    writeFive(join(cwd, 'five'), ['a']);
    const dev = startDev(cwd, 'five');
    await dev.untilRunning();
    const again = startDev(cwd, 'five');
    expect((await again.exited).code).toBe(2);
    expect(again.output()).toContain('the mesh "five" runs already');
    dev.signal('SIGTERM');
    await dev.exited;
  });
});
