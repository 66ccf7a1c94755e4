import type { DeriveId } from '../envelope/decode.ts';

/** The properties of a failure that identify its cause. */
export interface FingerprintInput {
  readonly actor: string;
  readonly errorType: string;
  readonly message: string;
  readonly traceback: string;
}

const FRAMES = 3;
const LENGTH = 12;

/** The same for failures with the same cause, whatever numbers, ids and values their messages contain. */
export function fingerprintOf(
  { actor, errorType, message, traceback }: FingerprintInput,
  deriveId: DeriveId,
): string {
  const hash = deriveId('fingerprint', actor, errorType, normalizeMessage(message), ...topFrames(traceback));
  return hash.replaceAll('-', '').slice(0, LENGTH);
}

/** The order matters: quoted values may contain paths and ids, and these contain numbers. */
const VARYING: readonly (readonly [RegExp, string])[] = [
  [/"(?:[^"\\\n]|\\.)*"|`[^`\n]*`|(?<!\w)'(?:[^'\\\n]|\\.)*'/g, '<value>'],
  [/\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b/gi, '<id>'],
  [/\b[a-z][a-z0-9+.-]*:\/\/\S+/gi, '<url>'],
  [/(?<![\w.<>/\\-])(?:~|\.{1,2}|[a-z]:)?(?:[/\\][\w.@%+=~-]+){2,}[/\\]?/gi, '<path>'],
  [/\b[\w.+-]+@[\w-]+(?:\.[\w-]+)+/g, '<address>'],
  [/\b0x[0-9a-f]+\b/gi, '<n>'],
  // A long word of letters and digits is an id or a hash. A long word of letters only may be a normal word.
  [/\b(?=[a-z_-]*\d)(?=[\d_-]*[a-z])[\w-]{12,}\b/gi, '<id>'],
  [/\b(?=[a-f]*\d)[0-9a-f]{6,}\b/gi, '<n>'],
  [/(?<![\w.])[-+]?\d+(?:[.,:]\d+)*(?:e[-+]?\d+)?/gi, '<n>'],
  [/\d+/g, '<n>'],
  [/\s+/g, ' '],
];
const MAX_MESSAGE = 500;

/** The message with placeholders for the parts that differ from one envelope to the next. */
export function normalizeMessage(message: string): string {
  const head = message.slice(0, 4 * MAX_MESSAGE);
  return VARYING.reduce((text, [varying, word]) => text.replace(varying, word), head)
    .trim()
    .slice(0, MAX_MESSAGE);
}

const PYTHON_FRAME = /^[ \t|]*File "(?<file>[^"\n]+)", line \d+, in (?<name>[^\n]+)$/gm;
const NODE_FRAME = /^[ \t]+at (?:(?<name>[^\n(]+?) \()?(?<file>[^\n():]+(?::\/\/[^\n():]+)?):\d+:\d+\)?$/gm;

/** The innermost frames as file and function. Line numbers are left out, because unrelated edits change them. */
export function topFrames(traceback: string): readonly string[] {
  // Python prints the innermost frame last, Node prints it first.
  const python = [...traceback.matchAll(PYTHON_FRAME)].map(frameText).reverse();
  const frames = python.length > 0 ? python : [...traceback.matchAll(NODE_FRAME)].map(frameText);
  return frames.slice(0, FRAMES);
}

function frameText({ groups }: RegExpExecArray): string {
  const { file = '', name = '' } = groups ?? {};
  return `${file.slice(file.lastIndexOf('/') + 1)}:${name.trim()}`;
}
