import { excerpt } from '../../../core/text/describe-value.ts';
import { suggestion } from '../../../core/text/nearest.ts';
import type { Member, Names } from './names.ts';

/** A file that was read, as messages name it. */
interface Source {
  readonly file: string;
  readonly names: Names;
  /** Functions that the file defines and does not export. */
  readonly unexported?: ReadonlySet<string>;
  /** The name of the default export inside of the file. */
  readonly defaultName?: string;
}

/**
 * Why a path such as `Greeter.greet` certainly does not name a function of the file. Undefined if it does, or may.
 */
export function functionProblem(source: Source, path: readonly string[]): string | undefined {
  let names = source.names;
  let title = `"${source.file}"`;
  for (const [index, part] of path.entries()) {
    const member = names.members.get(part);
    if (member === undefined) {
      if (names.isOpen || isInherited(part)) return undefined;
      if (index === 0 && source.defaultName === part)
        return `but ${title} exports "${part}" only as its default export; use "${[source.file, 'default', ...path.slice(1)].join('.')}"`;
      if (index === 0 && source.unexported?.has(part))
        return `but ${title} does not export "${part}"; it is a function, but not an export`;
      return `but ${title} has no function "${part}"${namesText(part, names)}`;
    }
    title = `"${part}"`;
    if (index === path.length - 1) return finalProblem(part, member, source.file);
    if (member.kind !== 'class' && member.kind !== 'object') return undefined;
    names = member.names;
  }
  return undefined;
}

function finalProblem(name: string, member: Member, file: string): string | undefined {
  switch (member.kind) {
    case 'value':
      return `but "${name}" in "${file}" is ${member.type}; expected a function`;
    case 'object':
      return `but "${name}" in "${file}" is an object; expected a function${namesText('', member.names)}`;
    case 'class':
      return `but "${name}" in "${file}" is a class; add the name of one of its methods${methodsText(member.names)}`;
    case 'function':
    case 'unknown':
      return undefined;
  }
}

/** The most similar name, and all functions that there are. */
function namesText(typed: string, names: Names): string {
  const found = functionsIn(names);
  if (found.length === 0) return '; it has no functions';
  const near = suggestion(typed, found);
  return near === '' ? `; it has ${listed(found)}` : `${near} It has ${listed(found)}`;
}

function methodsText(names: Names): string {
  const found = functionsIn(names);
  return found.length === 0 ? '' : `: ${listed(found)}`;
}

function listed(names: readonly string[]): string {
  return excerpt(names.join(', '));
}

/** Names of functions, and `Class.method`. */
function functionsIn({ members }: Names): readonly string[] {
  return [...members].flatMap(([name, member]) => {
    if (/^__.*__$|^constructor$|^#/.test(name)) return [];
    // The members of the default export are also listed without "default".
    if (name === 'default' && member.kind !== 'function') return [];
    if (member.kind === 'class' || member.kind === 'object')
      return functionsIn(member.names).map((inner) => `${name}.${inner}`);
    return member.kind === 'function' || (member.kind === 'unknown' && !member.isIncidental) ? [name] : [];
  });
}

/** Names that objects and classes have without defining them. */
function isInherited(name: string): boolean {
  return name in Function.prototype || /^__\w+__$/.test(name) || name === 'mro';
}
