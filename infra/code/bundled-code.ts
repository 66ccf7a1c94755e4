import { copyFileSync, cpSync, existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, extname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Names, Stage } from 'aws-cdk-lib';
import { Platform } from 'aws-cdk-lib/aws-ecr-assets';
import { Code, DockerImageCode } from 'aws-cdk-lib/aws-lambda';
import type { Construct } from 'constructs';
import { fileOfHandler } from '../../lib/config/manifest/handler-name.ts';
import type { ActorSpec } from '../../lib/config/manifest/manifest.ts';
import type { SqsClientName } from '../../lib/config/plan/function-plan.ts';
import { flowsFileText, GATEWAY_FLOWS_FILE } from '../../lib/config/plan/gateway-plan.ts';
import { IN_FUNCTION, lambdaEnvironment } from '../../lib/config/plan/lambda-environment.ts';
import {
  bundleFunction,
  bundleHandler,
  bundleRuntime,
  type HandlerBundle,
  unusedPackages,
} from './bundle.ts';
import { imageDockerfile, pythonDockerfile } from './dockerfile.ts';
import type { FunctionCode, MeshCode } from './mesh-code.ts';
import { readRequirements } from './requirements.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
/** `.ts` in the source tree, `.js` in the published package. */
const EXTENSION = extname(import.meta.filename);

/** Bundles by folder and content: each function is bundled once per process, for all actors. */
const bundled = new Map<string, string>();
/** The bundle of the Node runtime. */
let nodeRuntime: string | undefined;

/** What the code contains besides what every mesh needs. */
interface BundleOptions {
  /** The client of SQS in the functions. @default 'slim' */
  readonly sqsClient?: SqsClientName;
}

/**
 * Code of a mesh's functions, bundled from its folder. Zip files are bundled during synthesis, without Docker. For images
 * a Dockerfile and its context are written, and the CDK builds them during deployment.
 */
export function bundledCode(meshFolder: string, { sqsClient = 'slim' }: BundleOptions = {}): MeshCode {
  return {
    crew: (scope, folder) => {
      const target = emptyFolder(scope, folder);
      writeFunction(folder, target, unusedPackages({ sqsClient }));
      return { kind: 'zip', code: Code.fromAsset(target) };
    },
    gateway: (scope, flows) => {
      const target = emptyFolder(scope, 'gateway');
      writeFunction('gateway', target, unusedPackages({ sqsClient }));
      writeFileSync(join(target, GATEWAY_FLOWS_FILE), flowsFileText(flows));
      return { kind: 'zip', code: Code.fromAsset(target) };
    },
    actor: (scope, spec, plan) => {
      const target = emptyFolder(scope, spec.name);
      const callsUrl = spec.runtime.kind === 'url';
      writeFunction(plan.folder, target, unusedPackages({ sqsClient, callsUrl }));
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
      writeHandler(target, bundleOf(name, runtime.handler, folder));
      return { kind: 'zip', code: Code.fromAsset(target) };
    case 'python':
      copyPythonRuntime(target);
      copyApp(folder, join(target, IN_FUNCTION.app), dirname(target));
      return imageCode(target, pythonDockerfile(requirementsOf(name, join(target, IN_FUNCTION.app))));
    case 'image':
      copyPythonRuntime(target);
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

function writeFunction(folder: string, target: string, without: readonly string[]): void {
  const key = [folder, ...without].join(' ');
  const entry = join(ROOT, 'functions', folder, `index${EXTENSION}`);
  const text = bundled.get(key) ?? bundleFunction(entry, ROOT, without);
  bundled.set(key, text);
  writeFileSync(join(target, IN_FUNCTION.sidecar), text);
}

/** In a folder of its own: tracebacks omit the frames in it. */
function writeNodeRuntime(target: string): void {
  const file = join(target, IN_FUNCTION.nodeRuntime);
  mkdirSync(dirname(file), { recursive: true });
  const entry = join(ROOT, `runtimes/node/asya-runtime${EXTENSION}`);
  nodeRuntime ??= bundleRuntime(entry, ROOT);
  writeFileSync(file, nodeRuntime);
}

function copyPythonRuntime(target: string): void {
  for (const name of [IN_FUNCTION.pythonRuntime, IN_FUNCTION.pythonStart])
    copyFileSync(join(ROOT, 'runtimes/python', name), join(target, name));
}

/** The function's environment names one file, whatever the format of the bundle is. */
function writeHandler(target: string, { format, text }: HandlerBundle): void {
  const { handler, handlerModule } = IN_FUNCTION;
  if (format === 'esm') writeFileSync(join(target, handlerModule), text);
  const loader = `module.exports = import('./${handlerModule}');\n`;
  writeFileSync(join(target, handler), format === 'esm' ? loader : text);
}

function bundleOf(actor: string, handler: string, folder: string): HandlerBundle {
  const file = fileOfHandler(handler) ?? handler;
  try {
    return bundleHandler(join(folder, file), folder);
  } catch (error) {
    throw new Error(
      `asya: cannot bundle ${file}, the handler of "${actor}": ${(error as Error).message}\n` +
        'Fix the error. If a package contains native code, use an image that contains the package.',
    );
  }
}

/** Folders that tools create next to a handler. They are not copied. */
const IGNORED = new Set(['node_modules', 'cdk.out', 'dist', 'coverage', '__pycache__', 'venv']);

/** Checks here what pip would otherwise report when the image is built, in the middle of a deployment. */
function requirementsOf(actor: string, app: string): 'none' | 'one-file' | 'with-local-files' {
  const requirements = readRequirements(app);
  if (requirements.kind !== 'missing') return requirements.kind;
  const { list, path } = requirements;
  throw new Error(
    `asya: ${list} of "${actor}" refers to ${path}, which is not in the image. The image contains the folder of the actor's document ` +
      `without hidden files and without ${[...IGNORED].join(', ')}. Move the file into that folder, or use an image that contains it`,
  );
}

/** Copies file by file, because a folder that contains the app's output cannot be copied into it as a whole. */
function copyApp(from: string, to: string, outdir: string): void {
  mkdirSync(to);
  for (const entry of readdirSync(from, { withFileTypes: true })) {
    const path = join(from, entry.name);
    if (IGNORED.has(entry.name) || entry.name.startsWith('.') || path === outdir) continue;
    // A virtual environment belongs to this machine, whatever its name is.
    if (existsSync(join(path, 'pyvenv.cfg'))) continue;
    if (entry.isDirectory()) copyApp(path, join(to, entry.name), outdir);
    else cpSync(path, join(to, entry.name), { verbatimSymlinks: true });
  }
}

/** In the app's output, so that deployed code can be inspected. One folder per function: CDK caches assets by path. */
function emptyFolder(scope: Construct, name: string): string {
  const out = Stage.of(scope)?.assetOutdir ?? 'cdk.out';
  const folder = resolve(out, `code.${Names.uniqueResourceName(scope, { maxLength: 80 })}.${name}`);
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  return folder;
}
