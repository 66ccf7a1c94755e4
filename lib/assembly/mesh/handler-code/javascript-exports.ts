import { dirname, relative, resolve } from 'node:path';
import type { AnyNode, ExportNamedDeclaration, Program } from 'acorn';
import { isFile } from '../path-kind.ts';
import { parseJavaScript } from './javascript-file.ts';
import { type Members, membersOf, opened } from './javascript-members.ts';
import { keyName, type Usage, usageIn } from './javascript-usage.ts';
import {
  type CodeReading,
  joined,
  type Member,
  type Names,
  NOTHING,
  namesOf,
  OPEN,
  UNKNOWN,
} from './names.ts';

/** Reads what a Node handler's file exports, without running it. `file` is the name for messages. */
export function javaScriptExports(path: string, file: string): CodeReading {
  return read(path, file, new Set());
}

function read(path: string, file: string, visited: Set<string>): CodeReading {
  visited.add(path);
  const parsed = parseJavaScript(path);
  if (parsed === undefined) return { names: OPEN };
  if ('syntaxError' in parsed) {
    const { line, column, syntaxError } = parsed;
    return { place: `${file}:${line}:${column}`, syntaxError };
  }
  const { program } = parsed;
  const plain = plainExportsIn(program);
  const usage = usageIn(program, new Set(plain.keys()));
  const members = membersOf(program, () => usage);
  const isModule = program.body.some(({ type }) => /^(?:Import|Export)/.test(type));
  const names = isModule
    ? moduleNames(program, members, usage, (source) => namesIn(source, path, visited))
    : commonNames([...plain.values()], members, usage);
  const defaultName = defaultNameIn(program);
  return {
    names: withDefault(names),
    unexported: members.functions,
    ...(defaultName !== undefined && { defaultName }),
  };
}

/** The exports of an imported file. Packages are not read. */
function namesIn(source: unknown, from: string, visited: Set<string>): Names {
  const path = typeof source === 'string' && /^\.\.?\//.test(source) ? resolve(dirname(from), source) : '';
  if (path === '' || !isFile(path)) return OPEN;
  if (visited.has(path)) return NOTHING;
  const reading = read(path, relative(dirname(from), path), new Set([...visited, path]));
  return 'names' in reading ? reading.names : OPEN;
}

function moduleNames(
  { body }: Program,
  members: Members,
  { shared }: Usage,
  exportsOf: (source: unknown) => Names,
): Names {
  const found = new Map<string, Member>();
  // A file that is imported only for what it does may add members to what others export.
  const isExtended = body.some((one) => one.type === 'ImportDeclaration' && one.specifiers.length === 0);
  const namesFrom = (source: unknown) =>
    isExtended ? withOpenMembers(exportsOf(source)) : exportsOf(source);
  const imported = importedIn(body, shared, namesFrom);
  const local = (name: string): Member => imported.get(name) ?? members.named(name);
  let others = NOTHING;
  for (const statement of body) {
    if (statement.type === 'ExportDefaultDeclaration') {
      const { declaration } = statement;
      found.set(
        'default',
        declaration.type === 'Identifier' ? local(declaration.name) : members.of(declaration),
      );
    }
    if (statement.type === 'ExportAllDeclaration') {
      const { exported, source } = statement;
      const name = exported && keyName(exported, false);
      if (name != null) found.set(name, UNKNOWN);
      else others = joined(others, withoutDefault(namesFrom(source.value)));
    }
    if (statement.type === 'ExportNamedDeclaration')
      for (const [name, member] of namedExports(statement, local, namesFrom)) found.set(name, member);
  }
  return joined({ members: found, isOpen: false }, others);
}

function defaultNameIn({ body }: Program): string | undefined {
  const exported = body.find((one) => one.type === 'ExportDefaultDeclaration')?.declaration;
  if (exported?.type === 'Identifier') return exported.name;
  const isNamed = exported?.type === 'FunctionDeclaration' || exported?.type === 'ClassDeclaration';
  return isNamed ? exported.id?.name : undefined;
}

function importedIn(
  body: Program['body'],
  shared: ReadonlySet<string>,
  namesFrom: (source: unknown) => Names,
): ReadonlyMap<string, Member> {
  const imported = new Map<string, Member>();
  for (const statement of body) {
    if (statement.type !== 'ImportDeclaration') continue;
    for (const specifier of statement.specifiers) {
      const name =
        specifier.type === 'ImportSpecifier'
          ? keyName(specifier.imported, false)
          : specifier.type === 'ImportDefaultSpecifier'
            ? 'default'
            : undefined;
      const member = name === undefined ? UNKNOWN : namesFrom(statement.source.value).members.get(name);
      const { name: local } = specifier.local;
      imported.set(local, member === undefined ? UNKNOWN : shared.has(local) ? opened(member) : member);
    }
  }
  return imported;
}

function namedExports(
  { declaration, specifiers, source }: ExportNamedDeclaration,
  local: (name: string) => Member,
  namesFrom: (source: unknown) => Names,
): readonly (readonly [string, Member])[] {
  const declared =
    declaration?.type === 'VariableDeclaration'
      ? declaration.declarations.flatMap(({ id }) => namesInPattern(id))
      : [declaration?.id?.name ?? []].flat();
  const listed = specifiers.map((specifier): readonly [string, Member] => {
    const [from = '', to = ''] = [keyName(specifier.local, false), keyName(specifier.exported, false)];
    return [to, source == null ? local(from) : (namesFrom(source.value).members.get(from) ?? UNKNOWN)];
  });
  return [...declared.map((name) => [name, local(name)] as const), ...listed];
}

function namesInPattern(pattern: AnyNode): readonly string[] {
  switch (pattern.type) {
    case 'Identifier':
      return [pattern.name];
    case 'ObjectPattern':
      return pattern.properties.flatMap((one) => namesInPattern(one.type === 'Property' ? one.value : one));
    case 'ArrayPattern':
      return pattern.elements.flatMap((one) => (one === null ? [] : namesInPattern(one)));
    case 'AssignmentPattern':
      return namesInPattern(pattern.left);
    case 'RestElement':
      return namesInPattern(pattern.argument);
    default:
      return [];
  }
}

/** One `module.exports = ...` (without a name) or `exports.name = ...`. */
interface PlainExport {
  readonly name?: string;
  readonly value: AnyNode;
}

/** The statements at the top level that export in CommonJS. */
function plainExportsIn({ body }: Program): ReadonlyMap<AnyNode, readonly PlainExport[]> {
  const found = new Map<AnyNode, readonly PlainExport[]>();
  for (const statement of body) {
    if (statement.type !== 'ExpressionStatement') continue;
    const targets: (string | undefined)[] = [];
    let value: AnyNode = statement.expression;
    let isPlain = value.type === 'AssignmentExpression';
    while (value.type === 'AssignmentExpression') {
      const target = exportTarget(value.left);
      isPlain &&= value.operator === '=' && target !== undefined;
      targets.push(target?.name);
      value = value.right;
    }
    if (!isPlain || (targets.includes(REPEATED) && !targets.includes(undefined))) continue;
    const last = value;
    found.set(
      statement,
      targets
        .filter((name) => name !== REPEATED)
        .map((name) => ({ value: last, ...(name !== undefined && { name }) })),
    );
  }
  return found;
}

/** `module.exports = exports = ...` only repeats what is exported. */
const REPEATED = 'exports';

function exportTarget(target: AnyNode): { readonly name?: string } | undefined {
  if (isModuleExports(target)) return {};
  if (target.type === 'Identifier' && target.name === 'exports') return { name: REPEATED };
  if (target.type !== 'MemberExpression' || !isExportsObject(target.object)) return undefined;
  const name = keyName(target.property, target.computed);
  return name === undefined ? undefined : { name };
}

function isExportsObject(node: AnyNode): boolean {
  return isModuleExports(node) || (node.type === 'Identifier' && node.name === 'exports');
}

function isModuleExports(node: AnyNode): boolean {
  return (
    node.type === 'MemberExpression' &&
    node.object.type === 'Identifier' &&
    node.object.name === 'module' &&
    keyName(node.property, node.computed) === 'exports'
  );
}

function commonNames(
  statements: readonly (readonly PlainExport[])[],
  members: Members,
  { hasOtherExports, shared }: Usage,
): Names {
  const all = statements.flat();
  const whole = all.filter(({ name }) => name === undefined).at(-1);
  const named = new Map(
    all.flatMap(({ name, value }) => (name === undefined ? [] : [[name, members.of(value)] as const])),
  );
  const base = whole === undefined ? undefined : members.of(whole.value);
  const names = base === undefined ? NOTHING : staticNames(base);
  // `module.exports = main; main.other = ...`
  const isOpen = hasOtherExports || (whole?.value.type === 'Identifier' && shared.has(whole.value.name));
  const known = joined({ members: named, isOpen }, names);
  const joint = hasOtherExports ? withOpenMembers(known) : known;
  const main: Member = base === undefined || base.kind === 'object' ? { kind: 'object', names: joint } : base;
  return { ...joint, members: new Map([...joint.members, ['default', main]]) };
}

/** Names that are inside a default export can be used without "default". */
function withDefault(names: Names): Names {
  const member = names.members.get('default');
  return member === undefined ? names : joined(names, staticNames(member));
}

function staticNames(member: Member): Names {
  return member.kind === 'class' ? member.statics : namesOf(member);
}

/** `exports.settings.name = ...` adds to an object that is already exported. */
function withOpenMembers({ members, isOpen }: Names): Names {
  return { members: new Map([...members].map(([name, member]) => [name, opened(member)])), isOpen };
}

function withoutDefault({ members, isOpen }: Names): Names {
  return { members: new Map([...members].filter(([name]) => name !== 'default')), isOpen };
}
