import { extname } from 'node:path';
import { type BuildOptions, buildSync } from 'esbuild';
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

/** The AWS SDK's client of SQS. Functions load it only if the deployment chooses it. */
const SQS_SDK = '@aws-sdk/client-sqs';

/**
 * Bundles one of `functions/`. CommonJS loads faster. Packages of the AWS SDK that it uses are included, so that the tested
 * version runs.
 */
export function bundleFunction(entry: string, root: string, sqsClient: SqsClientName = 'slim'): string {
  return textOf({
    ...COMMON,
    entryPoints: [entry],
    absWorkingDir: root,
    format: 'cjs',
    minify: true,
    external: sqsClient === 'sdk' ? [] : [SQS_SDK],
  });
}

/** Makes `require` available to CommonJS packages inside the ESM bundle. */
const REQUIRE =
  "import { createRequire as asyaRequire } from 'node:module'; const require = asyaRequire(import.meta.url);";

/** `module` is esbuild's default, which a list of conditions replaces. */
const CONDITIONS = extname(import.meta.filename) === '.ts' ? ['module', SOURCE_CONDITION] : ['module'];

/** Bundles a user's handler. Rules match errors by class name, so names are kept. Readable lines help in tracebacks. */
export function bundleHandler(entry: string, folder: string): string {
  return textOf({
    ...COMMON,
    entryPoints: [entry],
    absWorkingDir: folder,
    format: 'esm',
    keepNames: true,
    conditions: CONDITIONS,
    minifyWhitespace: false,
    banner: { js: REQUIRE },
  });
}

function textOf(options: BuildOptions & { write: false }): string {
  const [file] = buildSync({ ...options, outfile: 'out.js' }).outputFiles ?? [];
  return file?.text ?? '';
}
