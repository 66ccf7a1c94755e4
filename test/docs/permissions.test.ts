import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, onTestFinished, test, vi } from 'vitest';
import { readMesh } from '../../lib/assembly/mesh/read-mesh.ts';
import { LOCAL_REGION } from '../../lib/local/engines/engines.ts';
import { ensureBuckets } from '../../lib/local/engines/local-stores.ts';
import { startSqs } from '../../lib/local/engines/sqs-engine.ts';
import { localHandlerAccess } from '../../lib/local/mesh/handler-access.ts';

/** Runs every example of docs/permissions.md. */

const ROOT = join(import.meta.dirname, '../..');
const PAGE = readFileSync(join(ROOT, 'docs/permissions.md'), 'utf8');

/** The code blocks that begin with a file name, by that name. */
const FILES = Object.fromEntries(
  [...PAGE.matchAll(/^```\w+\n(?:#|\/\/) (\S+\.\w+)\n([\s\S]*?)^```/gm)].map(([, path = '', text = '']) => [
    path,
    text,
  ]),
);

/** Below the project, so that the examples find its packages. */
function examples(files: Readonly<Record<string, string>>): string {
  const folder = mkdtempSync(join(ROOT, 'test/docs/.examples-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
  return folder;
}

test('the manifest is valid, and its handler writes to the embedded S3', async () => {
  const { 'save.yaml': manifest = '', 'save.ts': handler = '' } = FILES;
  const folder = examples({ 'save.yaml': manifest, 'save.ts': handler });
  const reading = readMesh(folder);
  if ('mistakes' in reading) throw new Error(JSON.stringify(reading.mistakes));
  expect(reading.warnings).toEqual([]);
  const engine = await startSqs(undefined, 0);
  onTestFinished(() => engine.close());
  await ensureBuckets(engine.endpoint, ['results']);
  const { env = {} } = localHandlerAccess(reading.manifest.actors[0]?.access, engine.endpoint, {});
  for (const [name, value] of Object.entries({ ...env, AWS_REGION: LOCAL_REGION }))
    vi.stubEnv(name, value ?? undefined);
  onTestFinished(() => void vi.unstubAllEnvs());
  const { save } = await import(/* @vite-ignore */ pathToFileURL(join(folder, 'save.ts')).href);
  expect(await save({ id: '1', text: 'hello' })).toEqual({ id: '1', key: 'texts/1.txt' });
  expect(await (await fetch(`${engine.endpoint}/results/texts/1.txt`)).text()).toBe('hello');
});

test('the CDK app grants to the handler', async () => {
  const { 'app.ts': app = '', 'save.ts': handler = '' } = FILES;
  const mesh = pathToFileURL(join(ROOT, 'infra/constructs/actor-mesh.ts')).href;
  const folder = examples({ 'save.ts': handler });
  const text = app
    .replace('asya-serverless/infra/actor-mesh', mesh)
    .replace("folder: 'handlers'", `folder: ${JSON.stringify(folder)}`);
  writeFileSync(join(folder, 'app.ts'), `${text}\nexport { save, stack };\n`);
  const { save, stack } = await import(/* @vite-ignore */ pathToFileURL(join(folder, 'app.ts')).href);
  const statements = stack.resolve(save.grantPrincipal.node.findChild('DefaultPolicy').document).Statement;
  expect(JSON.stringify(statements)).toContain('s3:PutObject');
  expect(JSON.stringify(statements)).toContain('polly:SynthesizeSpeech');
});
