import { readFileSync } from 'node:fs';
import { extname } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

/** A handler's process writes the port of its debugger into this file when it starts. */
const OPEN_INSPECTOR = fileURLToPath(
  new URL(`open-inspector${extname(import.meta.filename)}`, import.meta.url),
);

/** Options for Node in front of a program, so that it opens its inspector on a free port. */
export function inspectorArguments(portFile: string): readonly string[] {
  const preload = pathToFileURL(OPEN_INSPECTOR);
  preload.searchParams.set('port-file', portFile);
  // Node would otherwise print the address, which changes with every start and bypasses the stable port.
  return ['--import', preload.href, '--inspect-publish-uid=http'];
}

/** Starts debugpy, writes its port, then runs the program in the next argument as `python PROGRAM` would. */
const OPEN_DEBUGPY = `
import os, runpy, sys
import debugpy
port_file, program = sys.argv[1:3]
with open(port_file + ".new", "w") as file:
    file.write(str(debugpy.listen(("127.0.0.1", 0))[1]))
os.replace(port_file + ".new", port_file)
sys.argv = sys.argv[2:]
sys.path[0] = os.path.dirname(program)
runpy.run_path(program, run_name="__main__")
`;

/** Options for Python in front of a program, so that it opens debugpy on a free port. */
export function debugpyArguments(portFile: string): readonly string[] {
  // Breakpoints may be missed in frozen modules. Python versions without them ignore the option.
  return ['-X', 'frozen_modules=off', '-c', OPEN_DEBUGPY, portFile];
}

/** Undefined if no process has started yet. */
export function readPort(portFile: string): number | undefined {
  try {
    return Number(readFileSync(portFile, 'utf8')) || undefined;
  } catch {
    return undefined;
  }
}
