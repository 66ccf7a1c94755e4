import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { templateValue } from './template-value.ts';

const ROOT = join(import.meta.dirname, '../..');
const REGION = 'us-east-1';

/** One function as `cdk synth` writes it. */
export interface SynthesizedFunction {
  /** The files that are uploaded or that become an image. */
  readonly folder: string;
  /** As in Lambda's `_HANDLER`. */
  readonly handler: string;
  readonly environment: Readonly<Record<string, string>>;
}

interface FunctionResource {
  readonly Type: string;
  readonly Properties: {
    readonly Code: { readonly S3Key?: string; readonly ImageUri?: unknown };
    readonly Handler?: string;
    readonly Environment: { readonly Variables: Readonly<Record<string, unknown>> };
  };
}

interface Assets {
  readonly files: Readonly<Record<string, { readonly source: { readonly path: string } }>>;
  readonly dockerImages: Readonly<Record<string, { readonly source: { readonly directory: string } }>>;
}

export interface Synthesis {
  readonly outdir: string;
  readonly hasGateway: boolean;
  /** The functions to read. */
  readonly actors: readonly string[];
  /** Values of variables that CloudFormation would fill in. */
  readonly references: Readonly<Record<string, string>>;
}

/** Runs the CDK app as `cdk synth` does, and reads the functions of actors by name. */
export function synthesizeMesh({
  outdir,
  hasGateway,
  actors,
  references,
}: Synthesis): ReadonlyMap<string, SynthesizedFunction> {
  const context = {
    mesh: join(import.meta.dirname, 'mesh'),
    name: 'bench',
    env: 'dev',
    environments: { dev: { region: REGION, removalPolicy: 'destroy', gateway: hasGateway } },
  };
  execFileSync(process.execPath, [join(ROOT, 'infra/app.ts')], {
    cwd: ROOT,
    env: { ...process.env, CDK_OUTDIR: outdir, CDK_CONTEXT_JSON: JSON.stringify(context) },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const { Resources } = readJson<{ Resources: Readonly<Record<string, FunctionResource>> }>(
    join(outdir, 'asya-dev-bench.template.json'),
  );
  const assets = readJson<Assets>(join(outdir, 'asya-dev-bench.assets.json'));
  const functions = new Map<string, SynthesizedFunction>();
  for (const { Type, Properties } of Object.values(Resources)) {
    if (Type !== 'AWS::Lambda::Function') continue;
    const { Code, Environment, Handler } = Properties;
    const actor = Environment?.Variables['ASYA_ACTOR_NAME'];
    if (typeof actor !== 'string' || !actors.includes(actor)) continue;
    const folder = join(outdir, assetPath(Code, assets));
    functions.set(actor, {
      folder,
      handler: Handler ?? handlerOfImage(folder),
      environment: environmentOf(Environment.Variables, references),
    });
  }
  return functions;
}

function assetPath({ S3Key = '', ImageUri }: FunctionResource['Properties']['Code'], assets: Assets): string {
  const hash = /[0-9a-f]{64}/.exec(ImageUri === undefined ? S3Key : JSON.stringify(ImageUri))?.[0] ?? '';
  const path = assets.files[hash]?.source.path ?? assets.dockerImages[hash]?.source.directory;
  if (path === undefined) throw new Error(`the manifest of assets does not list "${hash}"`);
  return path;
}

/** Runs the steps of the Dockerfile that change the function's own files, such as compiling them. */
export function buildImage(folder: string, path: string): void {
  const dockerfile = join(folder, 'Dockerfile');
  if (!existsSync(dockerfile)) return;
  const [, afterCopy = ''] = readFileSync(dockerfile, 'utf8').split('COPY . ./\n');
  for (const [, command = ''] of afterCopy.matchAll(/^RUN (.*)$/gm))
    execFileSync('/bin/sh', ['-c', command], { cwd: folder, env: { PATH: path }, stdio: 'pipe' });
}

function handlerOfImage(folder: string): string {
  const dockerfile = readFileSync(join(folder, 'Dockerfile'), 'utf8');
  const handler = /^CMD \["([^"]+)"\]$/m.exec(dockerfile)?.[1];
  if (handler === undefined) throw new Error(`no CMD with a handler in ${folder}/Dockerfile`);
  return handler;
}

function environmentOf(
  variables: Readonly<Record<string, unknown>>,
  references: Readonly<Record<string, string>>,
): Record<string, string> {
  return Object.fromEntries(
    Object.entries(variables).map(([name, value]) => [
      name,
      references[name] ?? templateValue(value, { region: REGION, place: name }),
    ]),
  );
}

function readJson<Value>(path: string): Value {
  return JSON.parse(readFileSync(path, 'utf8')) as Value;
}
