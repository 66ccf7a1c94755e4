import { existsSync, readdirSync, renameSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { findPubsubEmulator } from '../../lib/local/engines/find-pubsub-emulator.ts';
import { actorYaml, outsideOf, writeFive } from '../local/a-mesh.ts';
import { aFolder } from '../support/a-folder.ts';
import { isAlive } from '../support/pids.ts';
import { descendantNamed, descendantsOf, endDevs, startDev, startDevIn } from './dev-process.ts';
import { asya } from './run-asya.ts';

afterAll(endDevs);

const emulator = findPubsubEmulator(process.env);
if ('absence' in emulator) console.log(`asya dev on Pub/Sub: skipped, because ${emulator.absence}`);

const SLOW = `
export async function slow() {
  console.log('working for ten minutes');
  await new Promise((resolve) => setTimeout(resolve, 600_000));
}
`;

describe.each(['SIGINT', 'SIGTERM', 'SIGHUP'] as const)('%s', (signal) => {
  test('stops the mesh with status 0, and leaves only its data and log', { timeout: 240_000 }, async () => {
    const cwd = aFolder({});
    writeFive(join(cwd, 'five'), ['a', 'b']);
    writeFileSync(join(cwd, 'five', 'slow.ts'), SLOW);
    const slow = actorYaml('slow')
      .replace('step.ts.step', 'slow.ts.slow')
      .replace('8s', '10m')
      .replace('9s', '11m');
    writeFileSync(join(cwd, 'five', 'slow.yaml'), slow);
    const dev = startDev(cwd, 'five');
    const mesh = await dev.untilRunning();
    const outside = outsideOf(mesh.variables);
    await outside.send(['a', 'b'], 'one');
    await outside.untilEnded('one', 60_000);
    // Stopping does not wait for calls in progress.
    await outside.send(['slow'], 'two');
    await dev.untilPrinted('working for ten minutes');
    await outside.close();
    const processes = descendantsOf(dev.pid);
    expect(processes.length).toBeGreaterThanOrEqual(5);
    dev.signal(signal);
    expect(await dev.exited).toEqual({ code: 0, signal: null });
    await expect.poll(() => processes.filter(isAlive), { timeout: 60_000 }).toEqual([]);
    expect(readdirSync(join(cwd, '.asya', 'five')).sort()).toEqual(['data', 'gateway.json', 'log.jsonl']);
  });

  test('during the start leaves nothing behind', { timeout: 240_000 }, async () => {
    const cwd = aFolder({ 'tmp/.keep': '' });
    const folders = join(cwd, 'tmp');
    writeFive(join(cwd, 'five'), ['a', 'b']);
    const dev = startDevIn(cwd, { ...process.env, TMPDIR: folders }, 'five', '--inspect', 'a');
    // The folder for the ports of debuggers exists, but the mesh is not announced yet.
    const hasDebugFolder = () => readdirSync(folders).some((name) => name.startsWith('asya-'));
    await expect.poll(hasDebugFolder, { timeout: 60_000, interval: 5 }).toBe(true);
    const processes = descendantsOf(dev.pid);
    dev.signal(signal);
    expect(await dev.exited).toEqual({ code: 0, signal: null });
    expect(readdirSync(folders)).toEqual(['.keep']);
    await expect.poll(() => processes.filter(isAlive), { timeout: 60_000 }).toEqual([]);
    expect(existsSync(join(cwd, '.asya', 'five', 'mesh.json'))).toBe(false);
  });
});

test('after SIGKILL during work, a restart with the same data ends every envelope exactly once', {
  timeout: 360_000,
}, async () => {
  const cwd = aFolder({ 'tmp/.keep': '' });
  const folders = join(cwd, 'tmp');
  const env = { ...process.env, TMPDIR: folders };
  writeFive(join(cwd, 'five'), ['a', 'b', 'c']);
  const first = startDevIn(cwd, env, 'five', '--inspect', 'a');
  const before = outsideOf((await first.untilRunning()).variables);
  const ids = Array.from({ length: 40 }, (_, n) => `e-${n}`);
  for (const id of ids) await before.send(['a', 'b', 'c'], id, id === 'e-7' ? { fail: 'b' } : {});
  await before.untilEnded('e-0', 60_000);
  const processes = descendantsOf(first.pid);
  first.signal('SIGKILL');
  await first.exited;
  await before.close();
  await expect.poll(() => processes.filter(isAlive), { timeout: 60_000 }).toEqual([]);

  const second = startDevIn(cwd, env, 'five', '--inspect', 'a');
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
  // Only the second run's folder: it removed what the killed run left.
  expect(readdirSync(folders).filter((name) => name.startsWith('asya-'))).toHaveLength(1);
  second.signal('SIGTERM');
  await second.exited;
  expect(readdirSync(folders)).toEqual(['.keep']);
});

const PRINTS = `
export function step(payload) {
  console.log(JSON.stringify({ text: 'indented' }, null, 2));
  console.log('\\x1b[2Jcleared');
  console.log('long '.repeat(1_000) + 'end');
  if (payload.exit) process.exit(3);
  return payload;
}
`;

test('prints what a handler prints, with its envelope, and how its process ended', {
  timeout: 240_000,
}, async () => {
  const cwd = aFolder({});
  writeFive(join(cwd, 'five'), ['a']);
  writeFileSync(join(cwd, 'five', 'step.ts'), PRINTS);
  const policy = "policies: {default: {maxAttempts: 2, backoff: constant, initialDelay: '1s'}}";
  const yaml = actorYaml('a').replace('visibilityTimeout: 9s', `visibilityTimeout: 9s, ${policy}`);
  writeFileSync(join(cwd, 'five', 'a.yaml'), yaml);
  const dev = startDev(cwd, 'five');
  const outside = outsideOf((await dev.untilRunning()).variables);
  const [id, exits] = ['70b3ef47-7e60-47a1-ad1a-ee8eebf273c6', '80b3ef47-7e60-47a1-ad1a-ee8eebf273c6'];
  await outside.send(['a'], id);
  await outside.untilEnded(id, 60_000);
  const printed = ['{', '  "text": "indented"', '}', 'cleared', `${'long '.repeat(1_000)}end`];
  for (const line of printed) await dev.untilPrinted(` a 70b3ef47 | ${line}\n`);
  expect(dev.output()).not.toContain('\x1b');
  await outside.send(['a'], exits, { exit: true });
  const error = "RuntimeConnectionError: the handler's process exited with status 3 during the call";
  expect(await outside.untilEnded(exits, 60_000)).toMatchObject({ end: 'failed', reason: 'PolicyExhausted' });
  await dev.untilPrinted(
    ` a 80b3ef47 retried, attempt 1 of 2, next in 1 s · no rule matches, policy "default" · ${error} · `,
  );
  await dev.untilPrinted(
    ` a 80b3ef47 exhausted, attempt 2 of 2 → x-sink · no rule matches, policy "default" · ${error} · `,
  );
  const shown = async () => (await asya(['failures', 'show', exits], { cwd })).out;
  await expect.poll(shown, { timeout: 30_000 }).toContain(error);
  expect(await shown()).toContain('failed at a · exhausted (PolicyExhausted) · attempt 2 of 2');
  await outside.close();
  dev.signal('SIGTERM');
  await dev.exited;
});

describe('reports in one line, without a stack trace', () => {
  const noTrace = (output: string) => expect(output).not.toMatch(/^\s+at .*:\d+:\d+/m);

  test('a manifest with mistakes', async () => {
    const cwd = aFolder({ 'm/a.yaml': 'apiVersion: asya.sh/v1alpha1\nkind: AsyncActr\n' });
    const dev = startDev(cwd, 'm');
    expect((await dev.exited).code).toBe(2);
    expect(dev.output()).toMatch(/a\.yaml:2:1 kind: is "AsyncActr"; expected "AsyncActor"/);
    noTrace(dev.output());
  });

  test.each([
    [
      '--sqs-port',
      (port: number) =>
        `asya: port ${port} on 127.0.0.1 is already in use; stop the process that listens there`,
    ],
    [
      '--dynamodb-port',
      (port: number) =>
        `asya: port ${port} on 127.0.0.1 is already in use; stop the process that listens there`,
    ],
    [
      '--gateway-port',
      (port: number) =>
        `asya: the gateway cannot listen on port ${port} of 127.0.0.1: the port is already in use; stop the process that listens there`,
    ],
  ])('a port that is in use, for %s', async (option, message) => {
    const server = createServer();
    const port = await new Promise<number>((resolve) =>
      server.listen(0, '127.0.0.1', () => resolve((server.address() as { port: number }).port)),
    );
    const cwd = aFolder({});
    writeFive(join(cwd, 'five'), ['a']);
    const dev = startDev(cwd, 'five', option, String(port));
    expect((await dev.exited).code).toBe(1);
    expect(dev.output()).toContain(message(port));
    noTrace(dev.output());
    server.close();
    expect(existsSync(join(cwd, '.asya', 'five', 'mesh.json'))).toBe(false);
  });

  test('a handler with a syntax error, which works as soon as it is fixed', {
    timeout: 240_000,
  }, async () => {
    const cwd = aFolder({});
    writeFive(join(cwd, 'five'), ['a']);
    const code = join(cwd, 'five', 'step.ts');
    writeFileSync(code, 'export function step(payload { return payload; }\n');
    const dev = startDev(cwd, 'five');
    const { variables } = await dev.untilRunning();
    await dev.untilPrinted(/cannot host ".\/step.ts.step": .*step\.ts:1: SyntaxError: /, 60_000);
    const outside = outsideOf(variables);
    await outside.send(['a'], 'waiting');
    // Moved into place: a runtime that reads half a file would report another error.
    writeFive(join(cwd, 'fixed'), ['a']);
    renameSync(join(cwd, 'fixed', 'step.ts'), code);
    expect(await outside.untilEnded('waiting', 60_000)).toMatchObject({ end: 'succeeded' });
    await outside.close();
    noTrace(dev.output());
    // The runtime's message is printed once, although it was started several times.
    expect(dev.output().match(/ \| asya-runtime: cannot host/g)).toHaveLength(1);
    dev.signal('SIGTERM');
    await dev.exited;
  });

  test('an actor in Python when Python is not installed; the other actors run', {
    timeout: 240_000,
  }, async () => {
    const cwd = aFolder({
      'five/p.yaml': actorYaml('p').replace('step.ts.step', 'step.step'),
      'five/step.py': 'def step(payload):\n    return payload\n',
      'bin/.keep': '',
    });
    writeFive(join(cwd, 'five'), ['a']);
    const dev = startDevIn(cwd, { ...process.env, PATH: join(cwd, 'bin') }, 'five');
    const outside = outsideOf((await dev.untilRunning()).variables);
    await dev.untilPrinted(
      '! actor "p" was not started: its handler needs Python 3.9 or later, which was not found on the PATH; install it',
    );
    await outside.send(['a'], 'one');
    expect(await outside.untilEnded('one', 60_000)).toMatchObject({ end: 'succeeded' });
    await outside.close();
    noTrace(dev.output());
    dev.signal('SIGTERM');
    await dev.exited;
  });

  test.skipIf('absence' in emulator)(
    'a new actor after the Pub/Sub emulator died',
    {
      timeout: 360_000,
    },
    async () => {
      const cwd = aFolder({});
      writeFive(join(cwd, 'five'), ['a']);
      const dev = startDev(cwd, 'five', '--transport', 'pubsub');
      await dev.untilRunning();
      const processes = descendantsOf(dev.pid);
      process.kill(descendantNamed(dev.pid, 'java'), 'SIGKILL');
      await dev.untilPrinted('emulator was terminated by SIGKILL', 60_000);
      writeFileSync(join(cwd, 'five', 'b.yaml'), actorYaml('b'));
      await dev.untilPrinted('the manifest was not applied: 14 UNAVAILABLE', 90_000);
      dev.signal('SIGINT');
      expect(await dev.exited).toEqual({ code: 0, signal: null });
      await expect.poll(() => processes.filter(isAlive), { timeout: 60_000 }).toEqual([]);
      noTrace(dev.output());
    },
  );

  test('a manifest that becomes invalid, and that it is valid again', {
    timeout: 240_000,
  }, async () => {
    const cwd = aFolder({});
    writeFive(join(cwd, 'five'), ['a']);
    const dev = startDev(cwd, 'five');
    await dev.untilRunning();
    await dev.untilPrinted('five: 1 actor, flows all, on SQS at');
    const flows = join(cwd, 'five', 'flows.yaml');
    // The folder may not be watched yet. That must not matter.
    writeFileSync(flows, 'flows:\n- {name: all, entrypoint: b}\n');
    await dev.untilPrinted('! the manifest was not applied:\nflows.yaml:2:');
    writeFive(join(cwd, 'five'), ['a']);
    await dev.untilPrinted('the manifest is valid again');
    noTrace(dev.output());
    dev.signal('SIGTERM');
    await dev.exited;
  });

  test('a mesh that is already running', async () => {
    const cwd = aFolder({});
    writeFive(join(cwd, 'five'), ['a']);
    const dev = startDev(cwd, 'five');
    await dev.untilRunning();
    const again = startDev(cwd, 'five');
    expect((await again.exited).code).toBe(2);
    expect(again.output()).toContain(
      `the mesh "five" is already running as process ${dev.pid}; stop it first`,
    );
    dev.signal('SIGTERM');
    await dev.exited;
  });
});
