import { type BuildOptions, buildSync } from 'esbuild';

const COMMON = {
  bundle: true,
  write: false,
  platform: 'node',
  target: 'node24',
  logLevel: 'silent',
  // Paths in comments would change the asset with the folder that it is made in.
  legalComments: 'none',
} as const satisfies BuildOptions;

/** A function of ours. CommonJS loads faster; the SDK is in it, so that the one that was tested is the one that runs. */
export function bundleFunction(entry: string, root: string): string {
  return textOf({ ...COMMON, entryPoints: [entry], absWorkingDir: root, format: 'cjs', minify: true });
}

/** Packages that are written for `require` may ask for it. */
const REQUIRE =
  "import { createRequire as asyaRequire } from 'node:module'; const require = asyaRequire(import.meta.url);";

/** A user's handler. Errors are told by the names of their classes, so names are kept, and lines stay readable. */
export function bundleHandler(entry: string, folder: string): string {
  return textOf({
    ...COMMON,
    entryPoints: [entry],
    absWorkingDir: folder,
    format: 'esm',
    keepNames: true,
    minifyWhitespace: false,
    banner: { js: REQUIRE },
  });
}

function textOf(options: BuildOptions & { write: false }): string {
  const [file] = buildSync({ ...options, outfile: 'out.js' }).outputFiles ?? [];
  return file?.text ?? '';
}
