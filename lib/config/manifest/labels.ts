import { describeValue } from '../../core/text/describe-value.ts';
import type { MistakeCollector } from '../../core/text/mistake.ts';
import { optional, readMap } from './manifest-field.ts';

/** The source of a field's value: `1.10` for the number 1.1. Undefined if it is not known. */
export type WrittenValue = (key: string) => string | undefined;

type Texts = Readonly<Record<string, string>>;

/** Limits of AWS tags. */
const MAX_KEY = 128;
const MAX_VALUE = 256;
const MAX_TAGS = 50;
/** For tags that an app, a stack or an organization adds to the same resources. */
const OTHER_TAGS = 10;
const MAX_LABELS = MAX_TAGS - OTHER_TAGS;
const RESERVED_PREFIX = /^aws:/i;
const NOT_IN_A_TAG = /[^\p{L}\p{N} _.:/=+\-@]/gu;
const TAG_CHARACTERS = 'an AWS tag may contain letters, digits, spaces and _ . : / = + - @';

/** Labels become AWS tags, so a label that AWS would refuse is a mistake here and not a failed deployment. */
export function readLabels(value: unknown, written: WrittenValue, notes: MistakeCollector): Texts {
  const labels = readTexts('label', value, written, notes);
  const count = Object.keys(labels).length;
  if (count > MAX_LABELS) {
    notes.add(
      `has ${count} labels, and at most ${MAX_LABELS} can become AWS tags: AWS allows ${MAX_TAGS} per resource, and ${OTHER_TAGS} are reserved for other tags; remove ${count - MAX_LABELS}`,
    );
  }
  const seen = new Map<string, string>();
  for (const [key, text] of Object.entries(labels)) {
    const here = notes.at(key);
    const same = seen.get(key.toLowerCase());
    if (same === undefined) seen.set(key.toLowerCase(), key);
    const problem = keyProblem(key, same) ?? valueProblem(text);
    if (problem !== undefined) here.add(problem);
  }
  return labels;
}

/** Accepted for compatibility with Kubernetes. They have no effect, so any text is valid. */
export function readAnnotations(value: unknown, written: WrittenValue, notes: MistakeCollector): Texts {
  return readTexts('annotation', value, written, notes);
}

/** Text as values, as Kubernetes requires it. */
function readTexts(
  what: 'label' | 'annotation',
  value: unknown,
  written: WrittenValue,
  notes: MistakeCollector,
): Texts {
  const fields = optional(value, notes, readMap, {});
  return Object.fromEntries(
    Object.entries(fields).map(([key, content]) => {
      if (typeof content === 'string') return [key, content];
      notes.at(key).add(notTextProblem(what, content, written(key)));
      return [key, ''];
    }),
  );
}

function notTextProblem(what: 'label' | 'annotation', content: unknown, written: string | undefined): string {
  const rule = what === 'label' ? 'a label must be text' : 'an annotation must be text';
  if (content === null) return `is null; ${rule}: write "" for an empty one`;
  if (typeof content !== 'number' && typeof content !== 'boolean')
    return `is ${describeValue(content)}; ${rule}, such as "vision"`;
  const source = written ?? String(content);
  return `is ${source}; ${rule}: write "${source}"`;
}

function keyProblem(key: string, same: string | undefined): string | undefined {
  if (key === '') return `has no name; an AWS tag needs a name of 1 to ${MAX_KEY} characters`;
  if (key.length > MAX_KEY)
    return `has a name of ${key.length} characters; an AWS tag's name has at most ${MAX_KEY}: shorten it by ${key.length - MAX_KEY}`;
  if (RESERVED_PREFIX.test(key))
    return `has a name that begins with "${key.slice(0, 4)}"; AWS reserves this prefix: choose another name`;
  const others = otherCharacters(key);
  if (others !== '') return `has ${others} in its name; ${TAG_CHARACTERS}`;
  if (same !== undefined)
    return `has the same name as "${same}" except for case, which tags of an IAM role ignore; keep one`;
  return undefined;
}

function valueProblem(text: string): string | undefined {
  if (text.length > MAX_VALUE)
    return `has ${text.length} characters; the value of an AWS tag has at most ${MAX_VALUE}: shorten it by ${text.length - MAX_VALUE}`;
  if (RESERVED_PREFIX.test(text))
    return `is ${describeValue(text)}, which begins with "${text.slice(0, 4)}"; AWS reserves this prefix: choose another value`;
  const others = otherCharacters(text);
  return others === '' ? undefined : `is ${describeValue(text)}, with ${others}; ${TAG_CHARACTERS}`;
}

/** The characters that a tag cannot have, each once: `","`, or `"," and "!"`. */
function otherCharacters(text: string): string {
  const others = new Set(text.match(NOT_IN_A_TAG));
  return [...others].map((one) => JSON.stringify(one)).join(' and ');
}
