import { extname } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { RuntimeSpec } from '../../config/manifest/manifest.ts';
import { commandOf } from '../../config/settings/shell-command.ts';

const RUNTIMES = fileURLToPath(new URL('../../../runtimes/', import.meta.url));

/** How an actor's runtime is started here; undefined where somebody else runs it. A problem where nobody can. */
export function runtimeCommand(
  runtime: RuntimeSpec,
  python: string | undefined,
): { readonly command?: string } | { readonly problem: string } {
  switch (runtime.kind) {
    case 'node':
      return {
        command: commandOf(
          process.execPath,
          `${RUNTIMES}node/asya-runtime${extname(import.meta.filename)}`,
          `./${runtime.handler}`,
        ),
      };
    case 'python':
      return python === undefined
        ? {
            problem:
              'it is written in Python, and there is no python3 on the PATH; install it and start again',
          }
        : { command: commandOf(python, `${RUNTIMES}python/asya_runtime.py`, runtime.handler) };
    case 'url':
      return {};
    case 'image':
      return {
        problem: `it is the image "${runtime.image}", and images are not run here; give it a url of where it runs`,
      };
  }
}
