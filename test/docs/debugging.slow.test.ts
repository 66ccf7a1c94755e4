import { existsSync, readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, expect, test } from 'vitest';
import { endDevs, startDev } from '../cli/dev-process.ts';
import { asya } from '../cli/run-asya.ts';
import { aFolder } from '../support/a-folder.ts';
import { attachInspector } from '../support/inspector-client.ts';
import { rawAnswer } from '../support/raw-request.ts';

/** Runs what docs/debugging.md shows. Its messages for Python are checked in test/cli/dev-inspect-python.slow.test.ts. */

afterAll(endDevs);

const PAGE = readFileSync(join(import.meta.dirname, '../../docs/debugging.md'), 'utf8');
const COMMANDS = [...PAGE.matchAll(/^```sh\nnpx asya (.*)\n```$/gm)].map(([, command = '']) => command);
const [FIRST = '', SEND = '', SECOND = ''] = COMMANDS;
const ATTACH = /^debug (\w+): attach to 127\.0\.0\.1:(\d+) in VS Code, or in Chrome at chrome:\/\/inspect$/m;

const actor = (name: string) => `apiVersion: asya.sh/v1alpha1
kind: AsyncActor
metadata: {name: ${name}}
spec:
  handler: ${name}.ts.${name}
`;
const MESH = {
  'my-mesh/score.ts': `export function score({ text }: { text: string }) {
  return text.split(' ').length;
}
`,
  'my-mesh/score.yaml': actor('score'),
  'my-mesh/store.ts': 'export const store = (payload: unknown) => payload;\n',
  'my-mesh/store.yaml': actor('store'),
  'my-mesh/flows.yaml': 'flows:\n- {name: words, entrypoint: score, route_next: [store]}\n',
};

const words = (command: string): readonly string[] =>
  [...command.matchAll(/'([^']*)'|\S+/g)].map(([word, quoted]) => quoted ?? word);

async function aFreePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as { port: number };
  await new Promise((resolve) => server.close(resolve));
  return port;
}

test('the page has three commands, and the ports in it are the usual ones', () => {
  expect(COMMANDS).toHaveLength(3);
  expect(ATTACH.exec(PAGE)?.slice(1)).toEqual(['score', '9229']);
  const launch = /```json\n(.*?)```/s.exec(PAGE)?.[1] ?? '';
  expect(JSON.parse(launch)).toMatchObject({
    configurations: [
      { type: 'node', request: 'attach', address: '127.0.0.1', port: 9229, restart: true },
      { type: 'debugpy', request: 'attach', connect: { host: '127.0.0.1', port: 5678 } },
    ],
  });
});

test('a handler stops at a breakpoint', { timeout: 240_000 }, async () => {
  const cwd = aFolder(MESH);
  const dev = startDev(cwd, ...words(FIRST).slice(1));
  await dev.untilRunning();
  await dev.untilPrinted(ATTACH);
  const port = Number(ATTACH.exec(dev.output())?.[2]);
  const client = await attachInspector(port);
  await client.send('Debugger.enable');
  const url = pathToFileURL(join(cwd, 'my-mesh/score.ts')).href;
  await client.send('Debugger.setBreakpointByUrl', { url, lineNumber: 1 });
  expect(await asya(words(SEND), { cwd })).toMatchObject({ status: 0 });
  const { callFrames } = (await client.next('Debugger.paused')) as {
    callFrames: readonly { readonly callFrameId: string; readonly functionName: string }[];
  };
  expect(callFrames[0]?.functionName).toBe('score');
  const { callFrameId } = callFrames[0] ?? {};
  const { result } = await client.send('Debugger.evaluateOnCallFrame', { callFrameId, expression: 'text' });
  expect(result).toMatchObject({ value: 'a b c' });
  const foreign = await rawAnswer(port, { target: '/json/list', headers: [['Host', 'evil.example']] });
  expect(foreign.head).toMatch(/^http\/1\.0 400 /);
  expect(foreign.text).not.toContain('webSocketDebuggerUrl');
  await client.close();
  dev.signal('SIGINT');
  expect(await dev.exited).toEqual({ code: 0, signal: null });
  expect(existsSync(join(cwd, '.asya/my-mesh/mesh.json'))).toBe(false);
});

test('two actors can be debugged, one of them at a given port', { timeout: 240_000 }, async () => {
  const cwd = aFolder(MESH);
  // Other programs on this machine may use the port of the page.
  const port = await aFreePort();
  expect(SECOND).toContain('score=9230');
  const dev = startDev(cwd, ...words(SECOND.replace('9230', String(port))).slice(1));
  await dev.untilRunning();
  await dev.untilPrinted(`debug score: attach to 127.0.0.1:${port} `);
  await dev.untilPrinted(/debug store: attach to 127\.0\.0\.1:\d+ /);
  dev.signal('SIGINT');
  expect(await dev.exited).toEqual({ code: 0, signal: null });
});
