import { execFileSync, spawnSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ROOT } from '../sidecar/sidecar-process.ts';

const { version: VERSION } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));

/** The published package, installed in an app that contains only this package and the CDK. */

let folder: string;
const inApp = (...parts: readonly string[]) => join(folder, 'node_modules', ...parts);

function run(...args: readonly string[]): string {
  return execFileSync(process.execPath, [...args], {
    cwd: folder,
    encoding: 'utf8',
    env: { PATH: process.env['PATH'], CDK_OUTDIR: join(folder, 'cdk.out'), CDK_VALIDATION: 'false' },
  });
}

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'asya-app-'));
  execFileSync('npm', ['pack', '--silent', '--pack-destination', folder], { cwd: ROOT });
  const [tarball = ''] = readdirSync(folder);
  mkdirSync(inApp('asya-serverless'), { recursive: true });
  execFileSync('tar', [
    '-xzf',
    join(folder, tarball),
    '-C',
    inApp('asya-serverless'),
    '--strip-components=1',
  ]);
  // The dependencies that npm would download are already installed in the pinned versions.
  const { dependencies } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
  for (const name of [...Object.keys(dependencies), '@types/node']) {
    mkdirSync(dirname(inApp(name)), { recursive: true });
    symlinkSync(join(ROOT, 'node_modules', name), inApp(name));
  }
  const [, text = ''] =
    /```ts\n(\/\/ app\.ts\n.*?)```/s.exec(readFileSync(join(ROOT, 'docs/deploy.md'), 'utf8')) ?? [];
  writeFileSync(join(folder, 'app.ts'), text);
  writeFileSync(join(folder, 'package.json'), '{"type":"module"}');
  mkdirSync(join(folder, 'handlers'));
  for (const name of ['score', 'store'])
    writeFileSync(
      join(folder, 'handlers', `${name}.ts`),
      `export const ${name} = (payload: object) => payload;\n`,
    );
}, 400_000);
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe('the installed package', { timeout: 300_000 }, () => {
  test('synthesizes the example of the docs with the complete code of its functions', () => {
    run('app.ts');
    const template = readFileSync(join(folder, 'cdk.out/Letters.template.json'), 'utf8');
    expect(template).toContain('"asya-dev-letters-score"');
    const code = readdirSync(join(folder, 'cdk.out')).find((name) => /^code\..*\.score$/.test(name)) ?? '';
    expect(readdirSync(join(folder, 'cdk.out', code), { recursive: true }).sort()).toEqual([
      'handler.cjs',
      'index.js',
      'runtime',
      'runtime/asya-runtime.cjs',
    ]);
  });

  test('has types', () => {
    const config = {
      compilerOptions: {
        strict: true,
        module: 'NodeNext',
        target: 'ES2024',
        types: ['node'],
        noEmit: true,
        skipLibCheck: true,
      },
      files: ['app.ts'],
    };
    writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(config));
    expect(run(join(ROOT, 'node_modules/typescript/bin/tsc'), '-p', '.')).toBe('');
  });

  test('contains the command, the core and the functions', () => {
    writeFileSync(join(folder, 'score.yaml'), SCORE);
    expect(run(inApp('asya-serverless/bin/asya.js'), '--version')).toBe(`${VERSION}\n`);
    expect(run(inApp('asya-serverless/bin/asya.js'), 'validate', '.')).toContain('1 actor');
    run(inApp('asya-serverless/bin/asya.js'), 'init', 'new-mesh');
    expect(readFileSync(join(folder, 'new-mesh/package.json'), 'utf8')).toContain(
      '"asya-serverless": "^0.1.0"',
    );
    const program = `
      import { decode } from 'asya-serverless/core/envelope/decode';
      import.meta.resolve('asya-serverless/functions/sidecar');
      console.log(typeof decode);
    `;
    expect(run('--input-type=module', '-e', program)).toBe('function\n');
  });
});

/** A TypeScript project that uses nothing of asya but the package. */
describe('an empty TypeScript project with the package', { timeout: 300_000 }, () => {
  const inProject = (name: string) => join(folder, 'project', name);
  const projectRun = (...args: readonly string[]) =>
    execFileSync(process.execPath, args, {
      cwd: inProject('.'),
      encoding: 'utf8',
      env: { PATH: process.env['PATH'] },
    });

  beforeAll(() => {
    mkdirSync(inProject('.'));
    if (!existsSync(inApp('vitest'))) symlinkSync(join(ROOT, 'node_modules/vitest'), inApp('vitest'));
    for (const [name, text] of Object.entries(PROJECT)) writeFileSync(inProject(name), text);
  });

  test('has types', () => {
    const tsc = join(ROOT, 'node_modules/typescript/bin/tsc');
    expect(projectRun(tsc, '--noEmit', '-p', '.')).toBe('');
    writeFileSync(inProject('wrong.ts'), WRONG);
    const { stdout } = spawnSync(process.execPath, [tsc, '--noEmit', '-p', '.'], {
      cwd: inProject('.'),
      encoding: 'utf8',
    });
    expect([...stdout.matchAll(/^(\S+)\((\d+),/gm)].map(([, file, line]) => `${file}:${line}`)).toEqual([
      'wrong.ts:4',
      'wrong.ts:5',
      'wrong.ts:6',
    ]);
    rmSync(inProject('wrong.ts'));
  });

  test('has types for the examples of docs/testing.md', () => {
    const page = readFileSync(join(ROOT, 'docs/testing.md'), 'utf8');
    mkdirSync(inProject('page'));
    for (const [, name = '', text = ''] of page.matchAll(/^```ts\n\/\/ (\S+)\n([\s\S]*?)^```/gm))
      writeFileSync(join(inProject('page'), name), text);
    expect(readdirSync(inProject('page'))).toHaveLength(7);
    writeFileSync(join(inProject('page'), 'tsconfig.json'), PROJECT['tsconfig.json'] ?? '');
    expect(projectRun(join(ROOT, 'node_modules/typescript/bin/tsc'), '-p', 'page')).toBe('');
  });

  test('tests with node:test', () => {
    expect(projectRun('--test', 'score.node.test.ts')).toMatch(/pass 3\n.*fail 0\n/);
  });

  test('tests with vitest', () => {
    const vitest = join(ROOT, 'node_modules/vitest/vitest.mjs');
    expect(projectRun(vitest, 'run', 'score.vitest.test.ts')).toMatch(/Tests .*4 passed/);
  });

  test('runs what asya init writes', () => {
    projectRun(inApp('asya-serverless/bin/asya.js'), 'init', 'new-mesh', '--python');
    const { scripts, devDependencies } = JSON.parse(readFileSync(inProject('new-mesh/package.json'), 'utf8'));
    expect(scripts.test).toBe('node --test && python3 -m unittest');
    expect(Object.keys(devDependencies)).toEqual(['@types/node', 'node', 'typescript']);
    mkdirSync(inProject('new-mesh/node_modules'));
    symlinkSync(inApp('asya-serverless'), inProject('new-mesh/node_modules/asya-serverless'));
    const cwd = inProject('new-mesh');
    const PATH = [dirname(process.execPath), process.env['PATH']].join(delimiter);
    const { status, stdout, stderr } = spawnSync('sh', ['-c', scripts.test], {
      cwd,
      encoding: 'utf8',
      env: { PATH },
    });
    expect(stdout, stderr).toMatch(/pass 4\n.*fail 0\n/);
    expect(stderr).toMatch(/Ran 2 tests[\s\S]*OK/);
    expect(status).toBe(0);
    const tsc = join(ROOT, 'node_modules/typescript/bin/tsc');
    expect(projectRun(tsc, '-p', 'new-mesh')).toBe('');
  });
});

const HANDLER = `import { type Context, type Handler, RetryAfter } from 'asya-serverless/handler';

export interface Text {
  readonly text: string;
}

export const score: Handler<Text, Text & { score: number }> = async ({ text }, context: Context) => {
  if (text === 'busy') throw new RetryAfter(7);
  context.setHeader('length', text.length);
  return { text, score: text.length };
};
`;

/** The body of the tests. With node:test the functions of assert, with vitest those of expect. */
const tests = (head: string, equal: string) => `${head}
import { runFlow, runHandler } from 'asya-serverless/testing';
import { score, type Text } from './score.ts';

test('the handler', async () => {
  const { items, headers } = await runHandler(score, { text: 'hi' }, { attempt: 2 });
  const [first]: readonly { text: string; score: number }[] = items;
  ${equal}(first, { text: 'hi', score: 2 });
  ${equal}(headers, { length: 2 });
});

test('an error', async () => {
  const { error } = await runHandler(score, { text: 'busy' });
  ${equal}([error?.type, error?.retryAfter], ['asya.RetryAfter', 7]);
});

test('the flow', async () => {
  const { end, timeline, sent } = await runFlow({
    mesh: import.meta.dirname,
    flow: 'score-text',
    payload: { text: 'hi' },
    handlers: { store: (payload: Text) => [payload, 'copy'] },
    fail: 'score:http:503*1',
  });
  ${equal}(end.payload, { text: 'hi', score: 2 });
  ${equal}(timeline.map(({ actor }) => actor), ['score', 'score', 'store', 'x-sink', 'x-sink']);
  ${equal}(sent.filter(({ from }) => from === 'store').map(({ payload }) => payload)[1], 'copy');
});
`;

const ACTORS = `apiVersion: asya.sh/v1alpha1
kind: AsyncActor
metadata: {name: score}
spec:
  handler: score.ts.score
  resiliency: {policies: {default: {maxAttempts: 3, initialDelay: 10s}}}
---
apiVersion: asya.sh/v1alpha1
kind: AsyncActor
metadata: {name: store}
spec: {image: "example.com/store:1"}
`;

const PROJECT: Readonly<Record<string, string>> = {
  'package.json': '{"type":"module"}',
  'tsconfig.json': JSON.stringify({
    compilerOptions: {
      strict: true,
      exactOptionalPropertyTypes: true,
      noUncheckedIndexedAccess: true,
      module: 'NodeNext',
      target: 'ES2024',
      types: ['node'],
      allowImportingTsExtensions: true,
      noEmit: true,
      skipLibCheck: true,
    },
    include: ['*.ts'],
  }),
  'score.ts': HANDLER,
  'actors.yaml': ACTORS,
  'flows.yaml': 'flows:\n- {name: score-text, entrypoint: score, route_next: [store], timeout: 60}\n',
  'score.node.test.ts': tests(
    "import assert from 'node:assert/strict';\nimport { test } from 'node:test';",
    'assert.deepEqual',
  ),
  'score.vitest.test.ts': `${tests(
    "import { expect, test, vi } from 'vitest';\nconst equal = (one: unknown, other: unknown) => expect(one).toEqual(other);",
    'equal',
  )}
vi.mock('./limits.ts', () => ({ limit: 1 }));

test('a handler with a mocked import', async () => {
  const { limited } = await import('./limited.ts');
  const { end } = await runFlow({ mesh: '.', actor: 'score', payload: { text: 'long' }, handlers: { score: limited } });
  expect(end.payload).toEqual('l');
});
`,
  'limits.ts': 'export const limit = 3;\n',
  'limited.ts':
    "import { limit } from './limits.ts';\nexport const limited = ({ text }: { text: string }) => text.slice(0, limit);\n",
};

const WRONG = `import { runFlow, runHandler } from 'asya-serverless/testing';
import { score } from './score.ts';

await runHandler(score, { txt: 'hi' });
await runHandler(score, { text: 'hi' }, { attempts: 2 });
await runFlow({ flow: 'score-text' });
`;

const SCORE = `apiVersion: asya.sh/v1alpha1
kind: AsyncActor
metadata: {name: score}
spec: {handler: handlers/score.ts.score}
`;
