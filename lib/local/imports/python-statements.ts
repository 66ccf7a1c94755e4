/** One import of a Python file, as it is written. */
export interface PythonImport {
  /** Number of leading dots: 0 for an absolute import. */
  readonly level: number;
  /** Empty for `from . import name`. */
  readonly module: string;
  /** Names after `import`. Each may be a module or something inside the module. */
  readonly names: readonly string[];
}

export interface PythonStatements {
  readonly imports: readonly PythonImport[];
  /** False if a string does not end, so that imports after it may be missing. */
  readonly isComplete: boolean;
}

const NAME = String.raw`[\p{ID_Start}_][\p{ID_Continue}]*`;
const DOTTED = String.raw`${NAME}(?:[ \t]*\.[ \t]*${NAME})*`;
/** A statement starts on its own line, after `;`, or after the `:` of `if x: import y`. */
const START = String.raw`(?:^|[;:\n])[ \t]*`;
const AS = String.raw`(?:[ \t]+as[ \t]+${NAME})?`;

const IMPORT = new RegExp(
  String.raw`${START}import[ \t]+(${DOTTED}${AS}(?:[ \t]*,[ \t]*${DOTTED}${AS})*)`,
  'gu',
);
const FROM = new RegExp(
  String.raw`${START}from[ \t]*(\.[. \t]*)?(${DOTTED})?[ \t]*import[ \t]*(?:\(([^)]*)\)|([^\n;(]*))`,
  'gu',
);
/** `import_module("a.b")`, `import_module(".b", package=...)` and `__import__("a.b")`. Strings are numbered here. */
const CALL = /(?:\bimport_module|\b__import__)\s*\(\s*(?:name\s*=\s*)?"(\d+)"/g;

/** Finds the import statements anywhere in a file, also in functions. Does not check its syntax. */
export function pythonStatements(source: string): PythonStatements {
  const { code, strings, isComplete } = withoutText(source);
  const imports: PythonImport[] = [];
  for (const [, list = ''] of code.matchAll(IMPORT))
    for (const module of namesIn(list)) imports.push({ level: 0, module, names: [] });
  for (const [, dots = '', module = '', inside, rest = ''] of code.matchAll(FROM)) {
    const level = dots.replaceAll(/[^.]/g, '').length;
    if (level > 0 || module !== '')
      imports.push({ level, module: tight(module), names: namesIn(inside ?? rest) });
  }
  for (const [, at = ''] of code.matchAll(CALL)) {
    const name = strings[Number(at)] ?? '';
    const level = /^\.*/.exec(name)?.[0].length ?? 0;
    imports.push({ level, module: name.slice(level), names: [] });
  }
  return { imports, isComplete };
}

/** The names of `a.b as c, d`. */
function namesIn(list: string): readonly string[] {
  return list
    .split(',')
    .map((one) => tight(one.trim().replace(/\s+as\s+.*$/s, '')))
    .filter((name) => name !== '' && name !== '*');
}

function tight(name: string): string {
  return name.replaceAll(/\s/g, '');
}

const TOKEN = /\\\r?\n|#[^\n]*|"""|'''|"|'|\r/g;

/** Removes comments and line continuations, and replaces each string by `"number"`. */
function withoutText(source: string): { code: string; strings: readonly string[]; isComplete: boolean } {
  const strings: string[] = [];
  let code = '';
  let at = 0;
  for (;;) {
    TOKEN.lastIndex = at;
    const token = TOKEN.exec(source);
    if (token === null) return { code: code + source.slice(at), strings, isComplete: true };
    const [text] = token;
    code += source.slice(at, token.index);
    at = token.index + text.length;
    if (text.startsWith('\\')) code += ' ';
    if (!/^["']/.test(text)) continue;
    const end = endOfString(source, at, text);
    if (end === undefined) return { code, strings, isComplete: false };
    code += `"${strings.push(source.slice(at, end)) - 1}"`;
    at = source.startsWith(text, end) ? end + text.length : end;
  }
}

/** Where the closing quote is. A string in single quotes ends with its line at the latest. Undefined: nowhere. */
function endOfString(source: string, from: number, quote: string): number | undefined {
  for (let at = from; at < source.length; at += 1) {
    if (source[at] === '\\') at += 1;
    else if (source.startsWith(quote, at) || (quote.length === 1 && source[at] === '\n')) return at;
  }
  return quote.length === 1 ? source.length : undefined;
}
