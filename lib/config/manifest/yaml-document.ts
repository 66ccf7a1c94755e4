import { type Document, LineCounter, parseAllDocuments } from 'yaml';
import { type PlacedMistake, type Position, placedMistake, type Step } from './placed-mistake.ts';
import { yamlFaults } from './yaml-faults.ts';
import { offsetOf, writtenAt } from './yaml-lookup.ts';

/** A file of a mesh's folder: its path from there, and what it holds. */
export interface ManifestFile {
  readonly path: string;
  readonly text: string;
}

/** One of a file's documents, with the way back from what it says to where it says it. */
export interface YamlDocument {
  readonly file: string;
  /** Plain values, finite and without circles; a guess where it is broken, undefined where there is none. */
  readonly value: unknown;
  /** It is no YAML: its mistakes are noted, and what would follow from them is none. */
  readonly isBroken: boolean;
  /** Of a field its name's, of an item its own; of what is missing, where it would belong. */
  positionOf(path: readonly Step[]): Position;
  /** A number or a flag as it was written: `1.10`, where its value is 1.1. */
  writtenAt(path: readonly Step[]): string | undefined;
}

/** How often aliases may repeat what they stand for: more is a bomb. */
const MAX_ALIASES = 100;

/** One line is enough for what made all that follows unreadable. */
const MAX_SYNTAX_MISTAKES = 5;

/** Every document of a file that holds anything. Never throws: what is no YAML is noted. */
export function readYaml(file: ManifestFile, mistakes: PlacedMistake[]): readonly YamlDocument[] {
  const lines = new LineCounter();
  try {
    const documents = parseAllDocuments(file.text, {
      lineCounter: lines,
      prettyErrors: false,
      logLevel: 'silent',
      // YAML 1.2 whatever a directive says: `on` and `no` are words.
      schema: 'core',
      merge: true,
      stringKeys: true,
      // Told by `yamlFaults`, which can name both places.
      uniqueKeys: false,
      resolveKnownTags: false,
    });
    return [...documents]
      .map((document) => readDocument(file.path, document, lines, mistakes))
      .filter(({ value, isBroken }) => isBroken || (value !== undefined && value !== null));
  } catch (error) {
    const problem = `cannot be read as YAML: ${oneLine(error)}`;
    mistakes.push(placedMistake(file.path, { line: 1, column: 1 }, [], problem));
    return [brokenDocument(file.path)];
  }
}

function brokenDocument(file: string): YamlDocument {
  const position = { line: 1, column: 1 };
  return { file, value: undefined, isBroken: true, positionOf: () => position, writtenAt: () => undefined };
}

function readDocument(
  file: string,
  document: Document.Parsed,
  lines: LineCounter,
  mistakes: PlacedMistake[],
): YamlDocument {
  const at = (offset: number): Position => {
    const { line, col } = lines.linePos(offset);
    return { line, column: col };
  };
  const note = (offset: number, path: readonly Step[], problem: string) => {
    mistakes.push(placedMistake(file, at(offset), path, problem));
  };
  for (const { code, message, pos } of firstPerLine(document.errors, at)) {
    note(pos[0], [], SYNTAX_WORDS[code] ?? `is no YAML: ${message}`);
  }
  for (const { message, pos } of document.warnings) note(pos[0], [], `means nothing here: ${message}`);
  const faults = document.errors.length > 0 ? [] : yamlFaults(document.contents);
  for (const { offset, path, problem, firstOffset } of faults) {
    const first = firstOffset === undefined ? '' : `, first in line ${at(firstOffset).line}; keep one`;
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
    positionOf: (path) => at(isSound ? offsetOf(document, path, start) : start),
    writtenAt: (path) => (isSound ? writtenAt(document, path) : undefined),
  };
}

const SYNTAX_WORDS: Readonly<Record<string, string>> = {
  RESOURCE_EXHAUSTION: 'is nested too deeply to be read',
  NON_STRING_KEY: "is a field's name that is no text",
};

function firstPerLine(
  errors: Document.Parsed['errors'],
  at: (offset: number) => Position,
): Document.Parsed['errors'] {
  const lineOf = (error: (typeof errors)[number] | undefined) => error && at(error.pos[0]).line;
  return errors
    .filter((error, index) => index === 0 || lineOf(error) !== lineOf(errors[index - 1]))
    .slice(0, MAX_SYNTAX_MISTAKES);
}

function plainValue(document: Document.Parsed): { value: unknown } | { problem: string } {
  try {
    return { value: document.toJS({ maxAliasCount: MAX_ALIASES }) };
  } catch (error) {
    const words = oneLine(error);
    return {
      problem: /alias count/.test(words)
        ? `repeats more by its aliases than is read, ${MAX_ALIASES} times; write some of it out`
        : `cannot be read: ${words}`,
    };
  }
}

function oneLine(error: unknown): string {
  return String((error as Error).message).split('\n')[0] ?? '';
}
