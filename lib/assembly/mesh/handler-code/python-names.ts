import { readFileSync } from 'node:fs';
import {
  FUNCTION,
  INCIDENTAL,
  joined,
  type Member,
  type Names,
  NOTHING,
  namesOf,
  OPEN,
  UNKNOWN,
} from './names.ts';
import { type PythonLine, pythonLines } from './python-lines.ts';

/** The names of a module or a class, while its lines are read. */
interface Scope {
  readonly members: Map<string, Member>;
  isOpen: boolean;
  /** Whether other code may have added members to a class with this name. */
  readonly isShared: (name: string) => boolean;
}

/** Reads the names of a Python module, without running it and without Python. */
export function pythonNames(path: string): Names {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch {
    return OPEN;
  }
  const lines = pythonLines(text);
  if (lines === undefined) return OPEN;
  const code = lines.map((line) => line.text).join('\n');
  if (CHANGES_NAMES.test(code) || NOT_ASCII.test(code)) return OPEN;
  const scope: Scope = { members: new Map(), isOpen: false, isShared: sharedIn(code) };
  readBlock(lines, 0, lines.length, scope);
  // An assignment expression anywhere, even in the arguments of a call.
  for (const [, name = ''] of code.matchAll(/([^\W\d]\w*)\s*:=/gu)) define(scope, name, INCIDENTAL);
  for (const [, names = ''] of code.matchAll(/\bglobal\s+([\w, ]+)/gu))
    for (const name of namesIn(names)) define(scope, name, INCIDENTAL);
  const { members, isOpen } = scope;
  return { members, isOpen };
}

/** What can add names that no statement shows. */
const CHANGES_NAMES =
  /\b(?:globals|vars|locals|setattr|exec|__dict__|__getattr__|__class_getitem__|__init_subclass__|modules|import_module|__import__)\b/u;

/** Strings and comments are left out of the code, so this is an identifier. Python normalizes those. */
const NOT_ASCII = /[^\p{ASCII}]/u;

/** Instances, annotations and base classes do not change a class. In a dictionary or a lambda, a colon annotates nothing. */
function sharedIn(code: string): Scope['isShared'] {
  const withoutClasses = code
    .replace(/^class\b.*$/gmu, '')
    .replace(/^.*(?:\{|\blambda\b).*$/gmu, (line) => line.replaceAll(':', ','));
  return (name) => {
    const uses = withoutClasses.matchAll(new RegExp(`(->\\s*|:\\s*|)\\b${name}\\b\\s*(\\()?`, 'gu'));
    return [...uses].some(([, before = '', call]) => before === '' && call === undefined);
  };
}

/** Reads the lines of a block, up to `end`. */
function readBlock(lines: readonly PythonLine[], start: number, end: number, scope: Scope): void {
  let isDecorated = false;
  for (let at = start; at < end; ) {
    const line = lines[at] as PythonLine;
    const blockEnd = endOfBlock(lines, at, end);
    if (line.text.startsWith('@')) {
      isDecorated = true;
      at++;
      continue;
    }
    const [, definition, name = ''] = /^(?:async\s+)?(def|class)\s+([^\W\d]\w*)/u.exec(line.text) ?? [];
    if (definition === 'def') define(scope, name, FUNCTION);
    else if (definition === 'class')
      define(scope, name, isDecorated ? UNKNOWN : readClass(lines, at, blockEnd, scope));
    else {
      readStatements(line.text, scope);
      readBlock(lines, at + 1, blockEnd, scope);
    }
    isDecorated = false;
    at = blockEnd;
  }
}

function endOfBlock(lines: readonly PythonLine[], at: number, end: number): number {
  const indent = lines[at]?.indent ?? 0;
  let next = at + 1;
  while (next < end && (lines[next]?.indent ?? 0) > indent) next++;
  return next;
}

function readClass(lines: readonly PythonLine[], at: number, end: number, outer: Scope): Member {
  const { text } = lines[at] as PythonLine;
  const { isShared } = outer;
  const [, name = '', bases = '', rest = ''] =
    /^class\s+(\w+)\s*(?:\[[^\]]*\])?\s*(?:\(([^()]*)\))?\s*:(.*)$/u.exec(text) ?? ['', '', '?'];
  const scope: Scope = { members: new Map(), isOpen: name === '' || isShared(name), isShared };
  readStatements(rest, scope);
  readBlock(lines, at + 1, end, scope);
  const parents = bases
    .split(',')
    .map((base) => base.trim())
    .filter((base) => base !== '' && base !== 'object');
  const inherited = parents.map((base) => {
    const member = outer.members.get(base);
    return member?.kind === 'class' ? namesOf(member) : OPEN;
  });
  const names = inherited.reduce(joined, { members: scope.members, isOpen: scope.isOpen });
  return { kind: 'class', names, statics: NOTHING };
}

/** `match` and `case` can also be names: `match: Match = ...`. */
const HEADER =
  /^(?:(?:if|elif|else|try|except|finally|for|async|while|with)\b|(?:match|case)\b(?!\s*[:.=]))/u;

/** The simple statements of a line. Every name in the header of a loop and the like may be assigned. */
function readStatements(line: string, scope: Scope): void {
  const header = HEADER.test(line);
  const colon = header ? colonIn(line) : undefined;
  if (colon !== undefined) {
    const [targets = ''] = /^(?:for|async|with|except|case)\b.*/u.exec(line.slice(0, colon)) ?? [];
    for (const name of namesIn(targets)) define(scope, name, INCIDENTAL);
    readStatements(line.slice(colon + 1).trim(), scope);
    return;
  }
  for (const statement of line.split(';')) readStatement(statement.trim(), scope);
}

function readStatement(text: string, scope: Scope): void {
  const [, from, what] = /^(from\b.*?\b)?import\b\s*(.*)$/u.exec(text) ?? [];
  if (what !== undefined) {
    if (what.includes('*')) scope.isOpen = true;
    for (const one of what.replace(/[()]/g, '').split(',')) {
      const [whole = '', alias] = one.trim().split(/\s+as\s+/u);
      const name = alias ?? (from === undefined ? whole.split('.')[0] : whole) ?? '';
      if (name !== '') define(scope, name.trim(), INCIDENTAL);
    }
    return;
  }
  const [, declared] = /^type\s+([^\W\d]\w*)/u.exec(text) ?? [];
  if (declared !== undefined) define(scope, declared, INCIDENTAL);
  const equals = equalsIn(text);
  if (equals === undefined) return;
  const [, plain] = /^([^\W\d]\w*)\s*(?::[^=]*)?=(?!.*=)/u.exec(text) ?? [];
  if (plain !== undefined) define(scope, plain, literal(text.slice(text.lastIndexOf('=') + 1).trim()));
  else for (const name of namesIn(text.slice(0, equals))) define(scope, name, UNKNOWN);
}

function literal(text: string): Member {
  if (text === '""') return { kind: 'value', type: 'a string' };
  if (/^-?\d[\d_]*(?:\.[\d_]*)?$/u.test(text)) return { kind: 'value', type: 'a number' };
  if (/^(?:True|False)$/.test(text)) return { kind: 'value', type: 'a boolean' };
  if (text === 'None') return { kind: 'value', type: 'None' };
  if (text.startsWith('lambda')) return FUNCTION;
  return /^[^\W\d][\w.]*(?:$|\()/u.test(text) ? UNKNOWN : INCIDENTAL;
}

/** A name that is defined twice may be either. */
function define(scope: Scope, name: string, member: Member): void {
  const before = scope.members.get(name);
  const isSame = before === undefined || (before.kind === member.kind && member.kind === 'function');
  scope.members.set(name, isSame ? member : UNKNOWN);
}

function namesIn(text: string): readonly string[] {
  return text.match(/[^\W\d]\w*/gu) ?? [];
}

/** The last assignment sign of a statement: not `==`, and not in brackets. */
function equalsIn(text: string): number | undefined {
  return positions(text, '=')
    .filter((at) => text[at + 1] !== '=' && !'=!<>'.includes(text[at - 1] ?? ''))
    .at(-1);
}

/** The colon that ends a header: not in brackets, and not of a lambda. */
function colonIn(text: string): number | undefined {
  return positions(text, ':').find(
    (at) => text[at + 1] !== '=' && !/\blambda\b[^:]*$/u.test(text.slice(0, at)),
  );
}

function positions(text: string, char: string): readonly number[] {
  let depth = 0;
  const found: number[] = [];
  for (let at = 0; at < text.length; at++) {
    const one = text.charAt(at);
    if ('([{'.includes(one)) depth++;
    if (')]}'.includes(one)) depth--;
    if (one === char && depth === 0) found.push(at);
  }
  return found;
}
