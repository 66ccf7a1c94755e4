import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import type { RuntimeLine } from '../../../lib/adapters/runtime-process/lines.ts';
import { processRuntime } from '../../../lib/adapters/runtime-process/process-runtime.ts';
import { asyaRuntime } from '../../../lib/adapters/runtime-socket/asya-runtime.ts';
import { systemClock } from '../../../lib/adapters/system/system.ts';
import type { CallResult } from '../../../lib/core/delivery/outcome.ts';
import type { Runtime } from '../../../lib/ports/runtime.ts';
import { LANGUAGES, type Language } from '../../runtimes/languages.ts';
import { A_LONG_TIME_MS, detailOf, envelopeWith, valueIn } from '../runtime-socket/a-request.ts';

/** Both runtimes, started by the sidecar, in the `asya:` protocol. */

const HANDLERS = {
  node: `
import { writeSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
export async function handle({ do: what, text }) {
  if (what === 'exit') process.exit(3);
  if (what === 'kill') process.kill(process.pid, 'SIGKILL');
  if (what === 'kill') await pause(600_000);
  if (what === 'fill') for (const all = []; ; ) all.push(new Array(100_000).fill({}));
  if (what === 'print') console.log(text);
  if (what === 'print') writeSync(2, text + '\\n');
  return what;
}
`,
  python: `
import os, signal, sys

def handle(payload):
    what = payload["do"]
    if what == "exit":
        sys.exit(3)
    if what == "kill":
        os.kill(os.getpid(), signal.SIGKILL)
    if what == "print":
        print(payload["text"])
        print(payload["text"], file=sys.stderr)
    return what
`,
};

const CANNOT_LOAD = {
  node: 'import "./is-missing.mjs";\nexport function handle() {}\n',
  python: 'import is_missing\n',
};

const EXITS = {
  node: 'process.exit(4);\nexport function handle() {}\n',
  python: 'import os\nos._exit(4)\n',
};

const opened: Runtime[] = [];
const folders: string[] = [];
afterEach(async () => {
  for (const one of opened.splice(0)) await one.close();
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true });
});

interface Started {
  readonly lines: RuntimeLine[];
  readonly call: (payload: object, id?: string) => Promise<CallResult>;
}

function start({ name, command, script }: Language, code: string, wrap = (text: string) => text): Started {
  const folder = mkdtempSync(join(tmpdir(), 'asya-exits-'));
  folders.push(folder);
  const path = join(folder, 'app.sock');
  const file = join(folder, name === 'node' ? 'code.mjs' : 'code_under_test.py');
  writeFileSync(file, code);
  const handler = name === 'node' ? `${file}.handle` : 'code_under_test.handle';
  const lines: RuntimeLine[] = [];
  const runtime = processRuntime({
    command: wrap(`exec '${command}' '${script}' '${handler}'`),
    env: async () => ({
      PATH: process.env['PATH'] ?? '',
      PYTHONPATH: folder,
      PYTHONDONTWRITEBYTECODE: '1',
      NODE_OPTIONS: '--max-old-space-size=30',
      ASYA_RUNTIME_URL: `asya:${path}`,
    }),
    client: asyaRuntime({ path, actor: 'score', fanOut: 'array', maxAnswerBytes: 1_000_000 }),
    clock: systemClock,
    onLine: (line) => lines.push(line),
    onWarning: () => {},
  });
  opened.push(runtime);
  return {
    lines,
    call: (payload, id = 'e-1') =>
      runtime.call({ envelope: envelopeWith(payload, { id }), timeoutMs: A_LONG_TIME_MS }),
  };
}

describe.each(LANGUAGES)("a handler's process ($name)", (language) => {
  const code = HANDLERS[language.name];

  it('that exits during a call is reported with its status, and the next call works', async () => {
    const { call } = start(language, code);
    expect(valueIn(await call({ do: 'start' }))).toBe('start');
    expect(detailOf(await call({ do: 'exit' }))).toBe(
      "the handler's process exited with status 3 during the call",
    );
    expect(valueIn(await call({ do: 'go on' }))).toBe('go on');
  });

  it('that is killed during a call is reported with the signal', async () => {
    const { call } = start(language, code);
    expect(detailOf(await call({ do: 'kill' }))).toBe(
      "the handler's process was terminated by SIGKILL during the call",
    );
  });

  it('that is killed inside a shell is reported with the signal that the status stands for', async () => {
    const { call } = start(language, code, (text) => `(${text}); exit $?`);
    expect(detailOf(await call({ do: 'kill' }))).toBe(
      "the handler's process exited with status 137 (SIGKILL) during the call",
    );
  });

  it('that exits while it is starting is reported with its status', async () => {
    const { call } = start(language, EXITS[language.name]);
    expect(detailOf(await call({}))).toBe("the handler's process exited with status 4 while it was starting");
  });

  it('that cannot load the handler is reported with the reason, not with the end of a stack trace', async () => {
    const { call } = start(language, CANNOT_LOAD[language.name]);
    expect(detailOf(await call({}))).toMatch(
      /^the handler's process exited with status 1 while it was starting: cannot host ".*": .*is_missing|is-missing/,
    );
  });

  it('prints lines with their indentation, their full length and the id of their call', async () => {
    const { call, lines } = start(language, code);
    const text = `  head\n\n\t  body ${'x'.repeat(5_000)}`;
    await call({ do: 'print', text }, 'e-print');
    const expected = [`  head`, '', `\t  body ${'x'.repeat(5_000)}`];
    for (const stream of ['stdout', 'stderr'] as const)
      await expect
        .poll(() => lines.filter((line) => line.stream === stream && line.isStarting === undefined))
        .toEqual(expected.map((line) => ({ stream, text: line, envelopeId: 'e-print' })));
  });

  it('says nothing about the call if several are in progress', async () => {
    const { call, lines } = start(language, code);
    await call({ do: 'start' });
    await Promise.all(['a', 'b'].map((id) => call({ do: 'print', text: id }, id)));
    const printed = () => lines.filter(({ text }) => text === 'a' || text === 'b');
    await expect.poll(printed).toHaveLength(4);
    for (const { text, envelopeId } of printed()) expect([undefined, text]).toContain(envelopeId);
  });
});

it('a process of Node that runs out of memory is reported with the reason', { timeout: 60_000 }, async () => {
  const [node] = LANGUAGES.filter(({ name }) => name === 'node');
  const { call } = start(node as Language, HANDLERS.node);
  expect(detailOf(await call({ do: 'fill' }))).toMatch(
    /^the handler's process was terminated by SIGABRT \(.*heap out of memory\) during the call$/,
  );
});
