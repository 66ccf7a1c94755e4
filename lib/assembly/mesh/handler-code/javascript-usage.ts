import type { AnyNode, Identifier, Program } from 'acorn';

/** How a file uses its names. Ignores scopes: a name that any scope changes counts as changed. */
export interface Usage {
  /** Names that are assigned after their declaration. */
  readonly assigned: ReadonlySet<string>;
  /** Names of objects and classes that other code may add members to. */
  readonly shared: ReadonlySet<string>;
  /** `module`, `exports` or `this` are used in a way that may add exports. */
  readonly hasOtherExports: boolean;
}

interface Walk {
  readonly assigned: Set<string>;
  readonly shared: Set<string>;
  readonly plainExports: ReadonlySet<AnyNode>;
  hasOtherExports: boolean;
}

/** `plainExports` are statements such as `exports.x = ...`, which are read elsewhere. */
export function usageIn(program: Program, plainExports: ReadonlySet<AnyNode>): Usage {
  const walk: Walk = { assigned: new Set(), shared: new Set(), plainExports, hasOtherExports: false };
  for (const node of program.body) visit(node, walk);
  walk.hasOtherExports ||= program.body.some(usesOuterThis);
  return walk;
}

function visit(node: AnyNode, walk: Walk): void {
  if (node.type === 'Identifier') {
    walk.shared.add(node.name);
    if (node.name === 'module' || node.name === 'exports') walk.hasOtherExports = true;
    return;
  }
  if (node.type === 'AssignmentExpression')
    for (const name of namesAssigned(node.left)) walk.assigned.add(name);
  if (node.type === 'UpdateExpression')
    for (const name of namesAssigned(node.argument)) walk.assigned.add(name);
  if (node.type === 'ForInStatement' || node.type === 'ForOfStatement') {
    if (node.left.type !== 'VariableDeclaration')
      for (const name of namesAssigned(node.left)) walk.assigned.add(name);
  }
  for (const child of usedIn(node, walk)) visit(child, walk);
}

/** In CommonJS, `this` is `exports` outside of functions and classes. */
function usesOuterThis(node: AnyNode): boolean {
  if (node.type === 'ThisExpression') return true;
  const isOwn = /^(?:Function|Class)/.test(node.type);
  return !isOwn && childrenOf(node).some(usesOuterThis);
}

/** The children that use a name in a way that matters: not declarations, property names, exports, calls and `extends`. */
function usedIn(node: AnyNode, walk: Walk): readonly AnyNode[] {
  const isName = (child: AnyNode | null | undefined) => child?.type === 'Identifier';
  const skipped = new Set<unknown>();
  switch (node.type) {
    case 'ExportNamedDeclaration':
      for (const specifier of node.specifiers) skipped.add(specifier);
      break;
    case 'ExportAllDeclaration':
    case 'ImportDeclaration':
      return [];
    case 'ExportDefaultDeclaration':
      return usedInExport(node.declaration);
    case 'ExpressionStatement':
      if (walk.plainExports.has(node)) return exportedValues(node);
      break;
    case 'FunctionDeclaration':
    case 'FunctionExpression':
    case 'VariableDeclarator':
      if (isName(node.id)) skipped.add(node.id);
      break;
    case 'ClassDeclaration':
    case 'ClassExpression':
      skipped.add(node.id);
      if (isName(node.superClass)) skipped.add(node.superClass);
      break;
    case 'CallExpression':
    case 'NewExpression':
      if (isName(node.callee)) skipped.add(node.callee);
      break;
    case 'MemberExpression':
      if (!node.computed) skipped.add(node.property);
      break;
    case 'Property':
    case 'PropertyDefinition':
    case 'MethodDefinition':
      if (!node.computed) skipped.add(node.key);
      break;
    default:
      break;
  }
  return childrenOf(node).filter((child) => !skipped.has(child));
}

/** What `exports.x = ...` exports. A name there is only exported. */
function exportedValues(statement: AnyNode): readonly AnyNode[] {
  if (statement.type !== 'ExpressionStatement') return [];
  let value: AnyNode = statement.expression;
  while (value.type === 'AssignmentExpression') value = value.right;
  return usedInExport(value);
}

/** Exporting a name, by itself or in an object, does not change what it is. */
function usedInExport(value: AnyNode): readonly AnyNode[] {
  if (value.type === 'Identifier') return [];
  if (value.type !== 'ObjectExpression') return [value];
  return value.properties.flatMap((property): readonly AnyNode[] =>
    property.type === 'Property' && !property.computed ? usedInExport(property.value) : [property],
  );
}

function namesAssigned(target: AnyNode): readonly string[] {
  if (target.type === 'Identifier') return [target.name];
  if (target.type === 'MemberExpression') return [];
  return childrenOf(target).flatMap(namesAssigned);
}

function childrenOf(node: AnyNode): readonly AnyNode[] {
  return Object.values(node)
    .flatMap((value) => (Array.isArray(value) ? value : [value]))
    .filter(isNode);
}

function isNode(value: unknown): value is AnyNode {
  return typeof value === 'object' && value !== null && 'type' in value && 'start' in value;
}

/** The name of a property or an export, if the source shows it. */
export function keyName(key: AnyNode, isComputed: boolean): string | undefined {
  if (key.type === 'Literal') return String(key.value);
  return key.type === 'Identifier' && !isComputed ? (key as Identifier).name : undefined;
}
