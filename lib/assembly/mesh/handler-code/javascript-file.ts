import { readFileSync } from 'node:fs';
import { extname } from 'node:path';
import { type Options, type Program, parse } from 'acorn';
import { type Message, transformSync } from 'esbuild';

export type ParsedFile =
  | { readonly program: Program }
  | { readonly syntaxError: string; readonly line: number; readonly column: number }
  /** It cannot be read, or its syntax is newer than the parser. */
  | undefined;

/** Parses a JavaScript or TypeScript file without running it. */
export function parseJavaScript(path: string): ParsedFile {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
  const isTypeScript = /^\.[cm]?ts$/.test(extname(path));
  const program = isTypeScript ? undefined : parsed(text);
  if (program !== undefined) return { program };
  try {
    const { code } = transformSync(text, {
      loader: isTypeScript ? 'ts' : 'js',
      target: 'es2022',
      logLevel: 'silent',
    });
    const result = parsed(code);
    return result && { program: result };
  } catch (error) {
    const [first] = (error as { readonly errors?: readonly Message[] }).errors ?? [];
    if (first?.location == null) return undefined;
    const { line, column } = first.location;
    return { syntaxError: first.text, line, column: column + 1 };
  }
}

const COMMON: Options = { ecmaVersion: 'latest', allowHashBang: true };

/** As a module, or else as CommonJS: Node decides by syntax too. */
function parsed(text: string): Program | undefined {
  const options: readonly Options[] = [
    { ...COMMON, sourceType: 'module' },
    { ...COMMON, sourceType: 'script', allowReturnOutsideFunction: true },
  ];
  for (const one of options) {
    try {
      return parse(text, one);
    } catch {
      // The next one decides.
    }
  }
  return undefined;
}
