/** What parsing a file shows about a name. `unknown`: it exists, but only running the file shows what it is. */
export type Member =
  | { readonly kind: 'function' }
  /** `isIncidental`: an import or a variable, which a list of functions does not contain. */
  | { readonly kind: 'unknown'; readonly isIncidental?: true }
  /** Certainly not a function. */
  | { readonly kind: 'value'; readonly type: string }
  | { readonly kind: 'object'; readonly names: Names }
  /** `statics` are the names that the class has without an instance. */
  | { readonly kind: 'class'; readonly names: Names; readonly statics: Names };

export interface Names {
  readonly members: ReadonlyMap<string, Member>;
  /** There may be others, which parsing cannot show. */
  readonly isOpen: boolean;
}

export type CodeReading =
  | {
      readonly names: Names;
      /** Functions that the file defines and does not export. */
      readonly unexported?: ReadonlySet<string>;
      /** The name of the default export inside of the file. */
      readonly defaultName?: string;
    }
  /** `place` is `file:line:column`. */
  | { readonly place: string; readonly syntaxError: string };

export const UNKNOWN: Member = { kind: 'unknown' };
export const INCIDENTAL: Member = { kind: 'unknown', isIncidental: true };
export const FUNCTION: Member = { kind: 'function' };
export const OPEN: Names = { members: new Map(), isOpen: true };
export const NOTHING: Names = { members: new Map(), isOpen: false };

export function namesOf(member: Member | undefined): Names {
  switch (member?.kind) {
    case 'object':
    case 'class':
      return member.names;
    case 'function':
    case 'value':
      return NOTHING;
    case 'unknown':
    case undefined:
      return OPEN;
  }
}

/** The names of both. The first wins. */
export function joined(first: Names, second: Names): Names {
  return {
    members: new Map([...first.members, ...second.members, ...first.members]),
    isOpen: first.isOpen || second.isOpen,
  };
}
