import { copyFileSync, cpSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, extname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Names, Stage } from 'aws-cdk-lib';
import { Platform } from 'aws-cdk-lib/aws-ecr-assets';
import { Code, DockerImageCode } from 'aws-cdk-lib/aws-lambda';
import type { Construct } from 'constructs';
import { fileOfHandler } from '../../lib/config/manifest/handler-name.ts';
import type { ActorSpec } from '../../lib/config/manifest/manifest.ts';
import { flowsFileText, GATEWAY_FLOWS_FILE } from '../../lib/config/plan/gateway-plan.ts';
import { IN_FUNCTION, lambdaEnvironment } from '../../lib/config/plan/lambda-environment.ts';
import { bundleFunction, bundleHandler } from './bundle.ts';
import { imageDockerfile, pythonDockerfile } from './dockerfile.ts';
import type { FunctionCode, MeshCode } from './mesh-code.ts';
import { readRequirements } from './requirements.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
/** `.ts` here, `.js` in the package that is made of it. */
const EXTENSION = extname(import.meta.filename);

/** Each function is bundled once in a process, however many actors have it. */
const bundled = new Map<string, string>();

/**
 * The code of a mesh's functions, made from its folder. Zips are bundled here and now, without Docker; images are
 * written down as a Dockerfile with what it copies, and built when they are deployed.
 */
export function bundledCode(meshFolder: string): MeshCode {
  return {
    crew: (scope, folder) => {
      const target = emptyFolder(scope, folder);
      writeFunction(folder, target);
      return { kind: 'zip', code: Code.fromAsset(target) };
    },
    gateway: (scope, flows) => {
      const target = emptyFolder(scope, 'gateway');
      writeFunction('gateway', target);
      writeFileSync(join(target, GATEWAY_FLOWS_FILE), flowsFileText(flows));
      return { kind: 'zip', code: Code.fromAsset(target) };
    },
    actor: (scope, spec, plan) => {
      const target = emptyFolder(scope, spec.name);
      writeFunction(plan.folder, target);
      const { resiliencyFile } = lambdaEnvironment(plan);
      if (resiliencyFile !== undefined) writeFileSync(join(target, IN_FUNCTION.resiliency), resiliencyFile);
      return addRuntime(target, spec, resolve(meshFolder, dirname(spec.file)));
    },
  };
}

function addRuntime(target: string, { name, runtime }: ActorSpec, folder: string): FunctionCode {
  switch (runtime.kind) {
    case 'url':
      return { kind: 'zip', code: Code.fromAsset(target) };
    case 'node':
      writeNodeRuntime(target);
      writeFileSync(join(target, IN_FUNCTION.handler), bundleOf(name, runtime.handler, folder));
      return { kind: 'zip', code: Code.fromAsset(target) };
    case 'python':
      copyFileSync(join(ROOT, 'runtimes/python/asya_runtime.py'), join(target, IN_FUNCTION.pythonRuntime));
      copyApp(folder, join(target, IN_FUNCTION.app), dirname(target));
      return imageCode(target, pythonDockerfile(requirementsOf(name, join(target, IN_FUNCTION.app))));
    case 'image':
      copyFileSync(join(ROOT, 'runtimes/python/asya_runtime.py'), join(target, IN_FUNCTION.pythonRuntime));
      writeNodeRuntime(target);
      return imageCode(target, imageDockerfile(runtime.image));
  }
}

function imageCode(target: string, dockerfile: string): FunctionCode {
  writeFileSync(join(target, 'Dockerfile'), dockerfile);
  return {
    kind: 'image',
    code: DockerImageCode.fromImageAsset(target, { platform: Platform.LINUX_ARM64 }),
  };
}

function writeFunction(folder: string, target: string): void {
  const known = bundled.get(folder);
  const text = known ?? bundleFunction(join(ROOT, 'functions', folder, `index${EXTENSION}`), ROOT);
  bundled.set(folder, text);
  writeFileSync(join(target, IN_FUNCTION.sidecar), text);
}

/** The sources unchanged, in a folder of their own: Node 24 runs TypeScript, and tracebacks omit frames in that folder. */
function writeNodeRuntime(target: string): void {
  const folder = join(target, dirname(IN_FUNCTION.nodeRuntime));
  const isSource = (path: string) => !/\.(js|d\.ts)$/.test(path);
  cpSync(join(ROOT, 'runtimes/node'), folder, { recursive: true, filter: isSource });
  writeFileSync(join(folder, 'package.json'), '{"type":"module"}\n');
}

function bundleOf(actor: string, handler: string, folder: string): string {
  const file = fileOfHandler(handler) ?? handler;
  try {
    return bundleHandler(join(folder, file), folder);
  } catch (error) {
    throw new Error(
      `asya: the handler of "${actor}", ${file}, cannot be bundled: ${(error as Error).message}\n` +
        'mend it; where a package has native code, give the actor an image that holds it',
    );
  }
}

/** What others leave beside a handler is no part of it. */
const FOREIGN = new Set(['node_modules', 'cdk.out', 'dist', 'coverage', '__pycache__', 'venv']);

/** Otherwise pip would tell it, when the image is built in the middle of a deployment. */
function requirementsOf(actor: string, app: string): 'none' | 'alone' | 'with-others' {
  const requirements = readRequirements(app);
  if (requirements.kind !== 'missing') return requirements.kind;
  const { list, path } = requirements;
  throw new Error(
    `asya: ${list} of "${actor}" names ${path}, which the image does not have: it has the folder of the actor's document, ` +
      `without what is hidden and without ${[...FOREIGN].join(', ')}; put it into that folder, or give the actor an image that holds it`,
  );
}

/** One by one: a folder that holds the output of the app cannot be copied into it as a whole. */
function copyApp(from: string, to: string, outdir: string): void {
  mkdirSync(to);
  for (const entry of readdirSync(from, { withFileTypes: true })) {
    const path = join(from, entry.name);
    if (FOREIGN.has(entry.name) || entry.name.startsWith('.') || path === outdir) continue;
    if (entry.isDirectory()) copyApp(path, join(to, entry.name), outdir);
    else cpSync(path, join(to, entry.name), { verbatimSymlinks: true });
  }
}

/** In the output of the app, where whoever wonders what is deployed can look. One each: CDK knows assets by their paths. */
function emptyFolder(scope: Construct, name: string): string {
  const out = Stage.of(scope)?.assetOutdir ?? 'cdk.out';
  const folder = resolve(out, `code.${Names.uniqueResourceName(scope, { maxLength: 80 })}.${name}`);
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  return folder;
}
