import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, describe, expect, test } from 'vitest';
import { outsideOf } from '../local/a-mesh.ts';
import { aFolder } from '../support/a-folder.ts';
import { sqsAt } from '../support/embedded-sqs.ts';
import { attachInspector, type InspectorClient } from '../support/inspector-client.ts';
import { type DevProcess, endDevs, startDev } from './dev-process.ts';

/** A real inspector client, attached to handlers of `asya dev --inspect`. */

afterAll(endDevs);

const BREAKPOINT = "const words = text.split(' ');";
const SCORE = `import { appendFileSync } from 'node:fs';

interface Payload {
  readonly text: string;
}

type Words = readonly string[];

/** The breakpoint is in a line below types, which Node removes. */
export async function score({ text }: Payload, context: { signal: AbortSignal; attempt: number }) {
  appendFileSync('calls.txt', text + '\\n');
  const { signal } = context;
  if (text === 'hangs') await new Promise<Words>(() => {});
  ${BREAKPOINT}
  // Timers that are due run first.
  await new Promise((resolve) => setTimeout(resolve, 1));
  return { words: words.length, attempt: context.attempt, isAborted: signal.aborted };
}
`;
/** Its first delivery ends with its function, so the message is delivered again after the visibility timeout. */
const WITNESS = `import { existsSync, writeFileSync } from 'node:fs';

export function witness(payload: unknown) {
  if (!existsSync('killed')) {
    writeFileSync('killed', '');
    process.kill(Number(process.env['FUNCTION_PID']), 'SIGKILL');
    return new Promise(() => {});
  }
  writeFileSync('delivered-again', '');
  return payload;
}
`;

/** The function's timeout is 6 s: it ends before the visibility timeout. */
const actor = (name: string, more = '') => `apiVersion: asya.sh/v1alpha1
kind: AsyncActor
metadata: {name: ${name}}
spec:
  handler: ${name}.ts.${name}
  resiliency: {actorTimeout: 1s, visibilityTimeout: 7s}
${more}`;

function aMesh(): string {
  return aFolder({
    'my-mesh/score.ts': SCORE,
    'my-mesh/score.yaml': actor('score', '  scaling: {maxReplicas: 3}\n'),
    'my-mesh/witness.ts': WITNESS,
    'my-mesh/witness.yaml': actor('witness'),
    'my-mesh/flows.yaml':
      'flows:\n- {name: score, entrypoint: score}\n- {name: witness, entrypoint: witness}\n',
  });
}

async function portOf(dev: DevProcess, name: string): Promise<number> {
  const line = new RegExp(`debug ${name}: attach to 127\\.0\\.0\\.1:(\\d+)`);
  await dev.untilPrinted(line);
  return Number(line.exec(dev.output())?.[1]);
}

/** Attaches and sets the breakpoint. */
async function attach(port: number, file: string): Promise<InspectorClient> {
  const client = await attachInspector(port);
  await client.send('Debugger.enable');
  const lines = readFileSync(file, 'utf8').split('\n');
  const lineNumber = lines.findIndex((line) => line.trim() === BREAKPOINT);
  // If the file is not loaded yet, the breakpoint is set as soon as it is.
  await client.send('Debugger.setBreakpointByUrl', { url: pathToFileURL(file).href, lineNumber });
  return client;
}

interface CallFrame {
  readonly callFrameId: string;
  readonly functionName: string;
  readonly location: { readonly lineNumber: number };
}

async function untilPaused(client: InspectorClient): Promise<CallFrame> {
  const { callFrames } = (await client.next('Debugger.paused')) as { callFrames: readonly CallFrame[] };
  const [top] = callFrames;
  if (top === undefined) throw new Error('paused without a call frame');
  return top;
}

/** The value of an expression at the breakpoint. */
async function valueAt(client: InspectorClient, { callFrameId }: CallFrame, expression: string) {
  const { result } = await client.send('Debugger.evaluateOnCallFrame', { callFrameId, expression });
  return (result as { value: unknown }).value;
}

describe('asya dev --inspect', () => {
  test('pauses every timeout while a debugger is attached, and keeps its port', {
    timeout: 400_000,
  }, async () => {
    const cwd = aMesh();
    const folder = join(cwd, 'my-mesh');
    const file = join(folder, 'score.ts');
    const dev = startDev(cwd, 'my-mesh', '--replicas', '3', '--inspect', 'score');
    const { variables } = await dev.untilRunning();
    const outside = outsideOf(variables);
    const sqs = sqsAt(variables['ASYA_SQS_ENDPOINT'] ?? '');
    const port = await portOf(dev, 'score');

    const client = await attach(port, file);
    await dev.untilPrinted('a debugger is attached to score: its timeouts are paused');
    await outside.send(['score'], 'one', { text: 'a b c' });
    const frame = await untilPaused(client);
    expect(frame.functionName).toBe('score');
    expect(SCORE.split('\n')[frame.location.lineNumber]?.trim()).toBe(BREAKPOINT);
    expect(await valueAt(client, frame, 'text')).toBe('a b c');

    // When this message is delivered again, the call would have exceeded its timeout, the function its timeout, and the
    // message its visibility timeout: they are the same for both actors, and this one was sent later.
    await outside.send(['witness'], 'two');
    await expect.poll(() => existsSync(join(folder, 'delivered-again'))).toBe(true);
    expect(await valueAt(client, frame, 'text')).toBe('a b c');
    expect(await sqs.receive('score')).toEqual([]);
    await sqs.close();
    await client.send('Debugger.resume');
    const end = await outside.untilEnded('one');
    expect(end).toMatchObject({ end: 'succeeded', actor: 'score' });
    expect(await outside.payloadOf(end)).toEqual({ words: 3, attempt: 1, isAborted: false });
    expect(readFileSync(join(folder, 'calls.txt'), 'utf8')).toBe('a b c\n');

    // A call that hangs is not ended while the debugger is attached, and is ended soon afterwards.
    await outside.send(['score'], 'three', { text: 'hangs' });
    await expect.poll(() => readFileSync(join(folder, 'calls.txt'), 'utf8')).toContain('hangs');
    expect(client.isOpen).toBe(true);
    await client.close();
    await dev.untilPrinted('the debugger has left score: its timeouts continue');
    expect(await outside.untilEnded('three')).toMatchObject({ end: 'failed', reason: 'ActorTimeout' });

    // The handler's process was killed. Its successor is at the same port.
    const second = await attach(port, file);
    await outside.send(['score'], 'four', { text: 'd e' });
    const secondFrame = await untilPaused(second);
    expect(await valueAt(second, secondFrame, 'text')).toBe('d e');
    await second.send('Debugger.resume');
    expect(await outside.untilEnded('four')).toMatchObject({ end: 'succeeded' });

    // A change of the code replaces the process and disconnects the debugger, which can attach again.
    writeFileSync(file, `// A new first line.\n${SCORE}`);
    await dev.untilPrinted('score restarts: score.ts changed');
    await expect.poll(() => second.isOpen).toBe(false);
    const third = await attach(port, file);
    await outside.send(['score'], 'five', { text: 'f' });
    const thirdFrame = await untilPaused(third);
    expect(thirdFrame.location.lineNumber).toBe(secondFrame.location.lineNumber + 1);
    await third.send('Debugger.resume');
    expect(await outside.untilEnded('five')).toMatchObject({ end: 'succeeded' });

    // Stopping does not wait for the debugger.
    await outside.send(['score'], 'six', { text: 'g' });
    await untilPaused(third);
    await outside.close();
    dev.signal('SIGINT');
    expect(await dev.exited).toEqual({ code: 0, signal: null });
    expect(dev.output()).not.toContain('Debugger listening');
  });

  test('uses the given port, or the next free one', { timeout: 240_000 }, async () => {
    const taken = createServer();
    await new Promise<void>((resolve) => taken.listen(0, '127.0.0.1', resolve));
    const { port } = taken.address() as { port: number };
    const cwd = aMesh();
    const refused = startDev(cwd, 'my-mesh', '--inspect', `score=${port}`);
    expect(await refused.exited).toEqual({ code: 1, signal: null });
    expect(refused.output()).toContain(
      `asya: the debugger of "score" cannot listen on port ${port} of 127.0.0.1: the port is already in use; choose another port with --inspect score=PORT`,
    );
    await new Promise((resolve) => taken.close(resolve));
    const dev = startDev(cwd, 'my-mesh', '--inspect', `score=${port}`, '--inspect', 'witness');
    await dev.untilRunning();
    expect(await portOf(dev, 'score')).toBe(port);
    const other = await portOf(dev, 'witness');
    expect(other).toBeGreaterThanOrEqual(9229);
    await (await attachInspector(other)).close();
    dev.signal('SIGINT');
    expect(await dev.exited).toEqual({ code: 0, signal: null });
  });
});
