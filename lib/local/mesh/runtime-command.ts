import { extname } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { RuntimeSpec } from '../../config/manifest/manifest.ts';
import { commandOf } from '../../config/settings/shell-command.ts';
import { SOURCE_CONDITION } from '../../config/settings/source-condition.ts';
import type { PythonSearch } from './find-python.ts';

const EXTENSION = extname(import.meta.filename);
/** In a checkout, a handler that imports `asya-serverless/handler` gets the source. */
const CONDITIONS = EXTENSION === '.ts' ? [`--conditions=${SOURCE_CONDITION}`] : [];
const RUNTIMES = fileURLToPath(new URL('../../../runtimes/', import.meta.url));

/**
 * The command that starts an actor's runtime locally. Undefined if it runs elsewhere; a problem if it cannot run here.
 * `options` are arguments of the interpreter, such as those that open a debugger.
 */
export function runtimeCommand(
  runtime: RuntimeSpec,
  /** Undefined if the runtime does not need it. */
  python: PythonSearch | undefined,
  options: readonly string[] = [],
): { readonly command?: string } | { readonly problem: string } {
  switch (runtime.kind) {
    case 'node':
      return {
        command: commandOf(
          process.execPath,
          ...CONDITIONS,
          ...options,
          `${RUNTIMES}node/asya-runtime${EXTENSION}`,
          `./${runtime.handler}`,
        ),
      };
    case 'python':
      if (python === undefined || 'problem' in python)
        return { problem: python?.problem ?? 'it has no Python' };
      return {
        command: commandOf(python.python, ...options, `${RUNTIMES}python/asya_start.py`, runtime.handler),
      };
    case 'url':
      return {};
    case 'image':
      return {
        problem: `it runs in the image "${runtime.image}", and a local mesh does not run images; run the image yourself and set spec.url`,
      };
  }
}
