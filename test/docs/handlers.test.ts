import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, describe, expect, it, onTestFinished } from 'vitest';
import { readAnswerPart } from '../../lib/core/delivery/answer-asya.ts';
import { connectTo } from '../runtimes/clients.ts';
import { LANGUAGES, type Language, NODE, PYTHON } from '../runtimes/languages.ts';
import { endAll, startForTest } from '../runtimes/runtime-process.ts';

/** Runs the examples of docs/handlers.md. */

const ROOT = join(import.meta.dirname, '../..');
const PAGE = readFileSync(join(ROOT, 'docs/handlers.md'), 'utf8');
const BLOCKS = [...PAGE.matchAll(/^```(\w*)\n([\s\S]*?)^```/gm)].map(([, language = '', text = '']) => ({
  language,
  text,
}));

function blockWith(language: string, text: string): string {
  const found = BLOCKS.find((block) => block.language === language && block.text.includes(text));
  if (found === undefined) throw new Error(`the page has no ${language} block with "${text}"`);
  return found.text;
}

const HEAD = {
  id: 'e-1',
  actor: 'describe',
  hop: 1,
  attempt: 1,
  timeout_ms: 60_000,
  route: { prev: ['fetch'], curr: 'describe', next: [] },
  headers: {},
};

afterAll(endAll);

/** Starts the runtime as the page does, with a block of the page as the handler's file. */
async function startExample(language: Language, file: string, handler: string, text = blockOf(file)) {
  const folder = mkdtempSync(join(ROOT, 'test/docs/.examples-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  writeFileSync(join(folder, file), text);
  const { socketPath } = await startForTest({ language, handler, cwd: folder, over: 'asya' });
  const connection = await connectTo(socketPath);
  return async (payload: unknown): Promise<readonly (readonly [head: unknown, body: unknown])[]> => {
    connection.send(JSON.stringify(HEAD));
    connection.send(JSON.stringify(payload));
    const pairs: [unknown, unknown][] = [];
    for (;;) {
      const head = JSON.parse((await connection.receive()) ?? '') as { kind: string };
      const body = await connection.receive();
      pairs.push([head, body === '' || body === undefined ? undefined : JSON.parse(body)]);
      if (head.kind === 'end' || head.kind === 'error') return pairs;
    }
  };
}

const blockOf = (file: string) =>
  blockWith(file.endsWith('.py') ? 'python' : 'ts', `${file.endsWith('.py') ? '#' : '//'} ${file}\n`);

it('has no block that no test runs', () => {
  expect(BLOCKS.map(({ language }) => language)).toEqual([
    'python',
    'sh',
    'ts',
    'sh',
    'ts',
    'python',
    'sh',
    'json',
  ]);
});

it.each([
  [PYTHON, 'score.py', 'python3 runtimes/python/asya_runtime.py '],
  [NODE, 'score.ts', 'npx node runtimes/node/asya-runtime.ts '],
])('runs %s', async (language, file, command) => {
  if (!LANGUAGES.includes(language)) return;
  const handler = blockWith('sh', command).trim().slice(command.length);
  const call = await startExample(language, file, handler);
  expect(await call({ text: 'hi' })).toEqual([[{ kind: 'end' }, { text: 'hi', score: 0.9 }]]);
});

describe('describe.ts', () => {
  async function startWith(answer: (request: IncomingMessage, response: ServerResponse) => void) {
    const server = createServer(answer).listen(0, '127.0.0.1');
    await new Promise((resolve) => server.once('listening', resolve));
    onTestFinished(() => void server.close());
    const { port } = server.address() as AddressInfo;
    // The package is built only for a release.
    const text = blockOf('describe.ts')
      .replace("'asya-serverless/handler'", `'${join(ROOT, 'lib/handler/index.ts')}'`)
      .replace('127.0.0.1:9000', `127.0.0.1:${port}`);
    return startExample(NODE, 'describe.ts', './describe.ts.describe', text);
  }
  const PROGRESS = [{ kind: 'progress', percent: 10, message: 'asking the model' }, undefined];

  it('sends the idempotency key, and returns the answer', async () => {
    const call = await startWith((request, response) =>
      response.end(`a cat ${request.headers['idempotency-key']}`),
    );
    expect(await call({ url: 'cat.png' })).toEqual([
      PROGRESS,
      [{ kind: 'end' }, { url: 'cat.png', text: 'a cat e-1:describe:1' }],
    ]);
  });

  it('requests a retry if the model is busy', async () => {
    const call = await startWith((_request, response) => response.writeHead(429).end());
    const error = { type: 'asya.RetryAfter', message: 'the model is busy', retry_after: 30 };
    expect(await call({ url: 'cat.png' })).toEqual([
      PROGRESS,
      [{ kind: 'error' }, expect.objectContaining(error)],
    ]);
  });
});

it('runs pages.py', async () => {
  if (!LANGUAGES.includes(PYTHON)) return;
  const call = await startExample(PYTHON, 'pages.py', 'pages.pages');
  expect(await call({ pages: ['a', 'b'] })).toEqual([
    [{ kind: 'progress', percent: 0, message: 'page 1' }, undefined],
    [{ kind: 'item' }, { page: 1, text: 'a' }],
    [{ kind: 'progress', percent: 50, message: 'page 2' }, undefined],
    [{ kind: 'item' }, { page: 2, text: 'b' }],
    [{ kind: 'end' }, undefined],
  ]);
  const error = { type: 'asya.NonRetryable', message: 'the document has no pages' };
  expect(await call({ pages: [] })).toEqual([[{ kind: 'error' }, expect.objectContaining(error)]]);
});

it('shows an error object that the sidecar understands', () => {
  expect(readAnswerPart('{"kind":"error"}', blockWith('json', '"error"'), 'array')).toEqual({
    kind: 'end',
    answer: {
      kind: 'fault',
      fault: {
        type: 'pkg.Type',
        mro: ['...'],
        message: '...',
        traceback: '...',
        httpStatus: 503,
        retryAfter: 7,
      },
    },
  });
});

/** Whether pip can build without a network: since 70.1 setuptools needs no other package. */
const probe = spawnSync(PYTHON.command, ['-c', 'import setuptools.command.bdist_wheel, pip']);

it.skipIf(probe.status !== 0)('installs the Python package', { timeout: 120_000 }, () => {
  const [pip, install, path = ''] = blockWith('sh', 'pip install').trim().split(' ');
  expect([pip, install]).toEqual(['pip', 'install']);
  const target = mkdtempSync(join(ROOT, 'test/docs/.examples-'));
  onTestFinished(() => rmSync(target, { recursive: true, force: true }));
  // A copy, because pip writes its build into the folder.
  const script = `cp -RL "$1" "$2/source" && "$3" -m pip install --quiet --no-index --no-build-isolation --target "$2/site" "$2/source" &&
    PYTHONPATH="$2/site" "$3" -c 'import asya, asya.testing; print(asya.testing.run(lambda payload, ctx: ctx.idempotency_key, hop=2).items)'`;
  const { stdout, stderr } = spawnSync('sh', ['-c', script, 'sh', join(ROOT, path), target, PYTHON.command], {
    encoding: 'utf8',
  });
  expect(stderr + stdout).toContain("['test-envelope:test-actor:2']");
});
