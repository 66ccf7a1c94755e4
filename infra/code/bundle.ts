import { extname } from 'node:path';
import { type BuildFailure, type BuildOptions, buildSync } from 'esbuild';
import type { SqsClientName } from '../../lib/config/plan/function-plan.ts';
import { SOURCE_CONDITION } from '../../lib/config/settings/source-condition.ts';

const COMMON = {
  bundle: true,
  write: false,
  platform: 'node',
  target: 'node24',
  logLevel: 'silent',
  // Comments contain paths, so the asset's hash would depend on the folder.
  legalComments: 'none',
} as const satisfies BuildOptions;

/** CommonJS loads faster. What only an ES module knows about itself is defined for it. */
const COMMON_JS = {
  ...COMMON,
  format: 'cjs',
  define: {
    'import.meta.url': 'asyaModuleUrl',
    'import.meta.dirname': '__dirname',
    'import.meta.filename': '__filename',
    'import.meta.main': 'false',
  },
} as const satisfies BuildOptions;
const MODULE_URL = 'const asyaModuleUrl = require("node:url").pathToFileURL(__filename).href;';

interface FunctionNeeds {
  /** The client of SQS in the function. @default 'slim' */
  readonly sqsClient?: SqsClientName;
  /** Whether it calls a runtime at a URL. @default false */
  readonly callsUrl?: boolean;
}

/** Packages that a function never loads. They are larger than everything else in its bundle. */
export function unusedPackages({ sqsClient = 'slim', callsUrl = false }: FunctionNeeds): readonly string[] {
  return [...(sqsClient === 'sdk' ? [] : ['@aws-sdk/client-sqs']), ...(callsUrl ? [] : ['undici'])];
}

/**
 * Bundles one of `functions/`. Packages of the AWS SDK that it uses are included, so that the tested version runs.
 * @param without Packages that this function never loads.
 */
export function bundleFunction(entry: string, root: string, without: readonly string[] = []): string {
  return textOf({
    ...COMMON,
    entryPoints: [entry],
    absWorkingDir: root,
    format: 'cjs',
    minify: true,
    external: [...without],
  });
}

/** Bundles the Node runtime into one file. The names of its classes are types of errors in the mesh. */
export function bundleRuntime(entry: string, root: string): string {
  return textOf({
    ...COMMON_JS,
    entryPoints: [entry],
    absWorkingDir: root,
    minifySyntax: true,
    minifyWhitespace: true,
    banner: { js: MODULE_URL },
  });
}

export interface HandlerBundle {
  readonly format: 'cjs' | 'esm';
  readonly text: string;
}

/** `module` is esbuild's default, which a list of conditions replaces. */
const CONDITIONS = extname(import.meta.filename) === '.ts' ? ['module', SOURCE_CONDITION] : ['module'];

/**
 * Bundles a user's handler. Rules match errors by class name, so names are kept. Readable lines help in tracebacks. The bundle
 * is an ES module only if it uses something that CommonJS does not have: `await` outside of functions, or
 * `import.meta.resolve`.
 */
export function bundleHandler(entry: string, folder: string): HandlerBundle {
  const options = {
    entryPoints: [entry],
    absWorkingDir: folder,
    keepNames: true,
    conditions: CONDITIONS,
    minifyWhitespace: false,
  };
  // ES modules are strict, and so is everything that is bundled with one.
  const commonJs = commonJsOf({
    ...COMMON_JS,
    ...options,
    banner: { js: `"use strict";\n${MODULE_URL}` },
  });
  if (commonJs !== undefined) return { format: 'cjs', text: commonJs };
  return { format: 'esm', text: textOf({ ...COMMON, ...options, format: 'esm', banner: { js: REQUIRE } }) };
}

/** Makes `require` available to CommonJS packages inside the ESM bundle. */
const REQUIRE =
  "import { createRequire as asyaRequire } from 'node:module'; const require = asyaRequire(import.meta.url);";

/** Undefined if the code needs an ES module. */
function commonJsOf(options: BuildOptions & { write: false }): string | undefined {
  try {
    const { outputFiles, warnings } = buildSync({ ...options, outfile: 'out.js' });
    return warnings.some(({ id }) => id === 'empty-import-meta') ? undefined : outputFiles?.[0]?.text;
  } catch (error) {
    if (isTopLevelAwait(error)) return undefined;
    throw error;
  }
}

function isTopLevelAwait(error: unknown): boolean {
  const { errors = [] } = error as Partial<BuildFailure>;
  return errors.length > 0 && errors.every(({ text }) => /top-level await/i.test(text));
}

function textOf(options: BuildOptions & { write: false }): string {
  const [file] = buildSync({ ...options, outfile: 'out.js' }).outputFiles ?? [];
  return file?.text ?? '';
}
