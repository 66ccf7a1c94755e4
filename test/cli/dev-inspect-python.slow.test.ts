import { execFile } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, describe, expect, test } from 'vitest';
import { outsideOf } from '../local/a-mesh.ts';
import { aFolder } from '../support/a-folder.ts';
import { type AdapterClient, connectAdapter } from '../support/adapter-client.ts';
import { emptyPython, pythonWithDebugpy } from '../support/debugpy.ts';
import { endDevs, startDevIn } from './dev-process.ts';

/** A real client of debugpy, attached to a handler of `asya dev --inspect`. */

const python = await pythonWithDebugpy();
const without = await emptyPython();
if ('absence' in python) console.log(`asya dev --inspect with debugpy: skipped, because ${python.absence}`);
if ('absence' in without)
  console.log(`asya dev --inspect without debugpy: skipped, because ${without.absence}`);

afterAll(async () => {
  await endDevs();
  for (const one of [python, without]) if ('remove' in one) one.remove();
});

const BREAKPOINT = 'words = payload["text"].split()';
const SCORE = `import os


def score(payload, ctx):
    with open("calls.txt", "a") as calls:
        calls.write(payload["text"] + "\\n")
    ${BREAKPOINT}
    return {"words": len(words), "attempt": ctx.attempt, "cancelled": ctx.cancelled()}
`;
/** Its first delivery ends with its function, so the message is delivered again after the visibility timeout. */
const WITNESS = `import os
import signal
import time


def witness(payload):
    if not os.path.exists("killed"):
        open("killed", "w").close()
        os.kill(int(os.environ["FUNCTION_PID"]), signal.SIGKILL)
        time.sleep(600)
    open("delivered-again", "w").close()
    return payload
`;

const actor = (name: string) => `apiVersion: asya.sh/v1alpha1
kind: AsyncActor
metadata: {name: ${name}}
spec:
  handler: ${name}.${name}
  resiliency: {actorTimeout: 1s, visibilityTimeout: 7s}
`;

function aMesh(): string {
  return aFolder({
    'my-mesh/score.py': SCORE,
    'my-mesh/score.yaml': actor('score'),
    'my-mesh/witness.py': WITNESS,
    'my-mesh/witness.yaml': actor('witness'),
    'my-mesh/flows.yaml':
      'flows:\n- {name: score, entrypoint: score}\n- {name: witness, entrypoint: witness}\n',
  });
}

/** Attaches and sets the breakpoint, in the order of an IDE. */
async function attach(port: number, file: string): Promise<AdapterClient> {
  const client = connectAdapter(port);
  await client.request('initialize', { adapterID: 'debugpy', linesStartAt1: true, pathFormat: 'path' });
  const attached = client.request('attach', { justMyCode: true });
  await client.next('initialized');
  const line =
    readFileSync(file, 'utf8')
      .split('\n')
      .findIndex((text) => text.trim() === BREAKPOINT) + 1;
  const source = { path: file };
  const set = await client.request('setBreakpoints', { source, breakpoints: [{ line }] });
  expect(set['breakpoints']).toMatchObject([{ verified: true, line }]);
  await client.request('configurationDone');
  await attached;
  return client;
}

interface Stop {
  readonly threadId: number;
  readonly frameId: number;
  readonly line: number;
}

async function untilStopped(client: AdapterClient): Promise<Stop> {
  const { threadId } = (await client.next('stopped')) as { threadId: number };
  const { stackFrames } = await client.request('stackTrace', { threadId });
  const [top] = stackFrames as readonly { readonly id: number; readonly line: number }[];
  return { threadId, frameId: top?.id ?? 0, line: top?.line ?? 0 };
}

async function valueAt(client: AdapterClient, { frameId }: Stop, expression: string): Promise<unknown> {
  return (await client.request('evaluate', { expression, frameId }))['result'];
}

describe('asya dev --inspect of a handler in Python', () => {
  test.skipIf('absence' in python)(
    'pauses its timeouts while a debugger is attached',
    { timeout: 400_000 },
    async () => {
      const cwd = aMesh();
      const folder = join(cwd, 'my-mesh');
      const file = join(folder, 'score.py');
      const PATH = 'path' in python ? python.path : '';
      const dev = startDevIn(cwd, { ...process.env, PATH }, 'my-mesh', '--inspect', 'score');
      const outside = outsideOf((await dev.untilRunning()).variables);
      const line = /debug score: attach to 127\.0\.0\.1:(\d+)/;
      await dev.untilPrinted(line);
      const port = Number(line.exec(dev.output())?.[1]);
      expect(port).toBeGreaterThanOrEqual(5678);

      const client = await attach(port, file);
      await dev.untilPrinted('a debugger is attached to score: its timeouts are paused');
      await outside.send(['score'], 'one', { text: 'a b c' });
      const stop = await untilStopped(client);
      expect(SCORE.split('\n')[stop.line - 1]?.trim()).toBe(BREAKPOINT);
      expect(await valueAt(client, stop, 'payload["text"]')).toBe("'a b c'");

      // Sent later with the same timeouts, and delivered again: every timeout of the first call would be over.
      await outside.send(['witness'], 'two');
      await expect.poll(() => existsSync(join(folder, 'delivered-again'))).toBe(true);
      expect(await valueAt(client, stop, 'payload["text"]')).toBe("'a b c'");
      await client.request('continue', { threadId: stop.threadId });
      const end = await outside.untilEnded('one');
      expect(end).toMatchObject({ end: 'succeeded', actor: 'score' });
      expect(await outside.payloadOf(end)).toEqual({ words: 3, attempt: 1, cancelled: false });
      expect(readFileSync(join(folder, 'calls.txt'), 'utf8')).toBe('a b c\n');

      // The client disappears while the handler is stopped, and debugpy lets the handler continue.
      await outside.send(['score'], 'three', { text: 'd' });
      await untilStopped(client);
      await client.close();
      await dev.untilPrinted('the debugger has left score: its timeouts continue');
      expect(await outside.untilEnded('three')).toMatchObject({ end: 'succeeded' });

      const second = await attach(port, file);
      await outside.send(['score'], 'four', { text: 'e' });
      expect(await valueAt(second, await untilStopped(second), 'payload["text"]')).toBe("'e'");
      await outside.close();
      dev.signal('SIGINT');
      expect(await dev.exited).toEqual({ code: 0, signal: null });
    },
  );

  test.skipIf('absence' in without)('says what to install', { timeout: 240_000 }, async () => {
    const cwd = aMesh();
    const PATH = 'path' in without ? without.path : '';
    const dev = startDevIn(cwd, { ...process.env, PATH }, 'my-mesh', '--inspect', 'score');
    expect(await dev.exited).toEqual({ code: 1, signal: null });
    expect(dev.output()).toMatch(
      /asya: Python actor "score" cannot be inspected: debugpy is not installed for (\S+); run \1 -m pip install debugpy\n/,
    );
    expect(existsSync(join(cwd, '.asya', 'my-mesh', 'mesh.json'))).toBe(false);
  });

  test.skipIf('absence' in python)('needs debugpy in .venv of the mesh', { timeout: 240_000 }, async () => {
    const cwd = aMesh();
    const PATH = 'path' in python ? python.path : '';
    const env = { ...process.env, PATH };
    const environment = join(cwd, 'my-mesh/.venv');
    await promisify(execFile)('python3', ['-m', 'venv', '--without-pip', environment], { env });
    const dev = startDevIn(cwd, env, 'my-mesh', '--inspect', 'score');
    expect(await dev.exited).toEqual({ code: 1, signal: null });
    expect(dev.output()).toContain(`debugpy is not installed for ${join(environment, 'bin/python')};`);
  });
});
