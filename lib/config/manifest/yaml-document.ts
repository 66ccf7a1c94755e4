import { type Document, LineCounter, parseAllDocuments } from 'yaml';
import { type LocatedMistake, locatedMistake, type Position, type Step } from './located-mistake.ts';
import { yamlFaults } from './yaml-faults.ts';
import { offsetOf, writtenAt } from './yaml-lookup.ts';
import { excerptAt, explainSyntax } from './yaml-syntax.ts';

/** A file of a mesh's folder. Its path is relative to that folder. */
export interface ManifestFile {
  readonly path: string;
  readonly text: string;
}

/** A document of a file, with the positions of its fields. */
export interface YamlDocument {
  readonly file: string;
  /** Plain values without cycles. If the document is broken: what could be read, or undefined. */
  readonly value: unknown;
  /** It is not valid YAML. Mistakes that follow from its own must not be reported. */
  readonly isBroken: boolean;
  /** Its syntax mistakes. */
  readonly mistakes: readonly LocatedMistake[];
  /** The position of a field's name or of an item. For a missing field: the position of its parent. */
  positionOf(path: readonly Step[]): Position;
  /** The source of a number or flag: `1.10`, although its value is 1.1. */
  writtenAt(path: readonly Step[]): string | undefined;
}

/** How many nodes aliases may expand to. The limit protects against expansion bombs. */
const MAX_ALIASES = 100;

/** Reads the documents of a file that are not empty. Never throws. */
export function readYaml(file: ManifestFile): readonly YamlDocument[] {
  const lines = new LineCounter();
  try {
    const documents = parseAllDocuments(file.text, {
      lineCounter: lines,
      prettyErrors: false,
      logLevel: 'silent',
      // YAML 1.2, whatever a directive says: `on` and `no` are text.
      schema: 'core',
      merge: true,
      stringKeys: true,
      // Reported by `yamlFaults`, which names both places.
      uniqueKeys: false,
      resolveKnownTags: false,
    });
    return [...documents]
      .map((document) => readDocument(file, document, lines))
      .filter(({ value, isBroken }) => isBroken || (value !== undefined && value !== null));
  } catch (error) {
    const problem = `cannot be read as YAML: ${oneLine(error)}`;
    return [brokenDocument(file.path, problem)];
  }
}

function brokenDocument(file: string, problem: string): YamlDocument {
  const position = { line: 1, column: 1 };
  return {
    file,
    value: undefined,
    isBroken: true,
    mistakes: [locatedMistake(file, position, [], problem)],
    positionOf: () => position,
    writtenAt: () => undefined,
  };
}

function readDocument(
  { path: file, text }: ManifestFile,
  document: Document.Parsed,
  lines: LineCounter,
): YamlDocument {
  const mistakes: LocatedMistake[] = [];
  const at = (offset: number): Position => {
    const { line, col } = lines.linePos(offset);
    return { line, column: col };
  };
  const note = (offset: number, path: readonly Step[], problem: string) => {
    mistakes.push(locatedMistake(file, at(offset), path, problem));
  };
  // One syntax mistake often causes many others.
  const [error] = document.errors;
  if (error !== undefined) {
    const { offset, problem } = explainSyntax(error, text);
    mistakes.push({ ...locatedMistake(file, at(offset), [], problem), excerpt: excerptAt(text, offset) });
  }
  for (const { message, pos } of document.warnings) note(pos[0], [], `is not supported: ${message}`);
  const faults = document.errors.length > 0 ? [] : yamlFaults(document.contents);
  for (const { offset, path, problem, firstOffset } of faults) {
    const first =
      firstOffset === undefined ? '' : `, first defined on line ${at(firstOffset).line}; keep one`;
    note(offset, path, problem + first);
  }
  const start = document.contents?.range[0] ?? 0;
  const isSound = document.errors.length === 0 && faults.every(({ isHarmless }) => isHarmless);
  const plain = plainValue(document);
  if (isSound && 'problem' in plain) note(start, [], plain.problem);
  return {
    file,
    value: 'value' in plain ? plain.value : undefined,
    isBroken: !isSound || 'problem' in plain,
    mistakes,
    positionOf: (path) => at(isSound ? offsetOf(document, path, start) : start),
    writtenAt: (path) => (isSound ? writtenAt(document, path) : undefined),
  };
}

function plainValue(document: Document.Parsed): { value: unknown } | { problem: string } {
  try {
    return { value: document.toJS({ maxAliasCount: MAX_ALIASES }) };
  } catch (error) {
    const message = oneLine(error);
    return {
      problem: /alias count/.test(message)
        ? `has aliases that expand to more than ${MAX_ALIASES} nodes; write some of them out`
        : `cannot be read: ${message}`,
    };
  }
}

function oneLine(error: unknown): string {
  return String((error as Error).message).split('\n')[0] ?? '';
}
