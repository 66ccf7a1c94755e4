import { execFileSync } from 'node:child_process';
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
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
      'handler.mjs',
      'index.js',
      'runtime',
      'runtime/asya-runtime.ts',
      'runtime/bad-request.ts',
      'runtime/error-object.ts',
      'runtime/handler',
      'runtime/handler/call-handler.ts',
      'runtime/handler/call-info.ts',
      'runtime/handler/context.ts',
      'runtime/handler/did-you-mean.ts',
      'runtime/handler/import-file.ts',
      'runtime/handler/load-handler.ts',
      'runtime/json.ts',
      'runtime/log.ts',
      'runtime/package.json',
      'runtime/server',
      'runtime/server/asya-server.ts',
      'runtime/server/frames.ts',
      'runtime/server/handler-host.ts',
      'runtime/server/http-server.ts',
      'runtime/server/listen.ts',
      'runtime/server/socket-server.ts',
      'runtime/settings.ts',
      'runtime/startup-error.ts',
      'runtime/value-at.ts',
      'runtime/watch-parent.ts',
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

const SCORE = `apiVersion: asya.sh/v1alpha1
kind: AsyncActor
metadata: {name: score}
spec: {handler: handlers/score.ts.score}
`;
