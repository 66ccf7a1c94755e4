import type { AnyNode, Class, ObjectExpression, Program, Statement } from 'acorn';
import { keyName, type Usage } from './javascript-usage.ts';
import { FUNCTION, type Member, type Names, NOTHING, OPEN, UNKNOWN } from './names.ts';

/** Where a name of the file is declared: an expression, or a function or class. Undefined: not known. */
type Bindings = ReadonlyMap<string, AnyNode | undefined>;

/** Finds out what the names and expressions of a file are. */
export interface Members {
  named(name: string): Member;
  of(node: AnyNode | null | undefined): Member;
  /** Functions that are declared at the top level. */
  readonly functions: ReadonlySet<string>;
}

export function membersOf(program: Program, usage: () => Usage): Members {
  const bindings = bindingsIn(program.body);
  const open = new Set<string>();

  /** A declaration may refer to itself: `const a = a`. */
  function named(name: string): Member {
    const node = bindings.get(name);
    if (node === undefined || open.has(name) || usage().assigned.has(name)) return UNKNOWN;
    open.add(name);
    const member = of(node);
    open.delete(name);
    return usage().shared.has(name) ? opened(member) : member;
  }

  function of(node: AnyNode | null | undefined): Member {
    switch (node?.type) {
      case 'FunctionDeclaration':
      case 'FunctionExpression':
      case 'ArrowFunctionExpression':
        return FUNCTION;
      case 'ClassDeclaration':
      case 'ClassExpression':
        return classMember(node);
      case 'ObjectExpression':
        return { kind: 'object', names: objectNames(node) };
      case 'Identifier':
        return named(node.name);
      case 'Literal':
        return { kind: 'value', type: literalType(node.value) };
      case 'TemplateLiteral':
        return { kind: 'value', type: 'a string' };
      case 'ArrayExpression':
        return { kind: 'value', type: 'an array' };
      default:
        return UNKNOWN;
    }
  }

  function objectNames({ properties }: ObjectExpression): Names {
    const members = new Map<string, Member>();
    let isOpen = false;
    for (const property of properties) {
      const name = property.type === 'Property' ? keyName(property.key, property.computed) : undefined;
      if (property.type !== 'Property' || name === undefined || name === '__proto__') isOpen = true;
      else members.set(name, property.kind === 'init' ? of(property.value) : UNKNOWN);
    }
    return { members, isOpen };
  }

  /** Fields are not methods: the runtime looks for a method before it creates an instance. */
  function classMember({ superClass, body }: Class): Member {
    const parent = superClass == null ? undefined : of(superClass);
    const from = parent === undefined ? NO_CLASS : parent.kind === 'class' ? parent : ANY_CLASS;
    const statics = new Map(from.statics.members);
    const instance = new Map(from.names.members);
    let isOpen = from.names.isOpen;
    for (const element of body.body) {
      if (element.type === 'StaticBlock') {
        isOpen = true;
        continue;
      }
      if (element.key.type === 'PrivateIdentifier') continue;
      const name = keyName(element.key, element.computed);
      const member = element.type === 'MethodDefinition' && element.kind === 'method' ? FUNCTION : UNKNOWN;
      if (name === undefined) isOpen = true;
      else if (element.static)
        statics.set(name, element.type === 'PropertyDefinition' ? of(element.value) : member);
      else if (element.type === 'MethodDefinition') instance.set(name, member);
    }
    return {
      kind: 'class',
      names: { members: new Map([...instance, ...statics]), isOpen },
      statics: { members: statics, isOpen },
    };
  }

  const functions = new Set([...bindings.keys()].filter((name) => named(name).kind === 'function'));
  return { named, of, functions };
}

const NO_CLASS = { names: NOTHING, statics: NOTHING };
const ANY_CLASS = { names: OPEN, statics: OPEN };

/** The same, with members that other code may have added. */
export function opened(member: Member): Member {
  if (member.kind === 'object') return { ...member, names: { ...member.names, isOpen: true } };
  if (member.kind !== 'class') return member;
  const { names, statics } = member;
  return { kind: 'class', names: { ...names, isOpen: true }, statics: { ...statics, isOpen: true } };
}

function literalType(value: unknown): string {
  if (value === null) return 'null';
  return typeof value === 'object' ? 'a regular expression' : `a ${typeof value}`;
}

function bindingsIn(body: readonly (Statement | Program['body'][number])[]): Bindings {
  const bindings = new Map<string, AnyNode | undefined>();
  const add = (name: string, node: AnyNode | undefined) => {
    bindings.set(name, bindings.has(name) ? undefined : node);
  };
  for (const statement of body) {
    const declaration =
      statement.type === 'ExportNamedDeclaration' || statement.type === 'ExportDefaultDeclaration'
        ? statement.declaration
        : statement;
    if (declaration?.type === 'FunctionDeclaration' || declaration?.type === 'ClassDeclaration') {
      if (declaration.id !== null) add(declaration.id.name, declaration);
    }
    if (declaration?.type !== 'VariableDeclaration') continue;
    for (const { id, init } of declaration.declarations)
      if (id.type === 'Identifier') add(id.name, init ?? undefined);
  }
  return bindings;
}
