import { shownValue } from '../core/complaint.ts';
import { type Mistake, notesInto, noteUnknownKeys } from '../core/mistake.ts';
import { NO_RESILIENCY, type Resiliency } from '../core/policy.ts';
import { isPlainObject } from '../core/policy-input.ts';
import { compileResiliency } from '../core/resiliency-input.ts';

const POLICIES = 'ASYA_RESILIENCY_POLICIES';
const RULES = 'ASYA_RESILIENCY_RULES';
const FILE = 'ASYA_RESILIENCY_FILE';

export interface ResiliencyTexts {
  readonly policies?: string;
  readonly rules?: string;
  readonly file?: string;
}

/** The file's text, or why it cannot be read. */
export type ReadFile = (path: string) => { readonly text: string } | { readonly problem: string };

/** From the two variables or from the file; both at once would leave open which counts. */
export function readResiliency(texts: ResiliencyTexts, readFile: ReadFile, mistakes: Mistake[]): Resiliency {
  const { policies, rules, file } = texts;
  if (file === undefined) {
    return compileResiliency(
      policies === undefined ? {} : (parseJson(policies, POLICIES, mistakes) ?? {}),
      rules === undefined ? [] : (parseJson(rules, RULES, mistakes) ?? []),
      { policies: notesInto(mistakes, POLICIES), rules: notesInto(mistakes, RULES) },
    );
  }
  if (policies !== undefined || rules !== undefined) {
    const problem = `is set, and so is ${policies === undefined ? RULES : POLICIES}; keep the file or the variables`;
    mistakes.push({ place: FILE, problem });
  }
  return readResiliencyFile(file, readFile, mistakes);
}

function readResiliencyFile(path: string, readFile: ReadFile, mistakes: Mistake[]): Resiliency {
  const notes = notesInto(mistakes, `${FILE} (${path})`);
  const content = readFile(path);
  if ('problem' in content) {
    notes.add(`cannot be read: ${content.problem}`);
    return NO_RESILIENCY;
  }
  const input = parseJson(content.text, notes.place, mistakes);
  if (input === undefined) return NO_RESILIENCY;
  if (!isPlainObject(input)) {
    notes.add(`holds ${shownValue(input)}, not {"policies":{...},"rules":[...]}`);
    return NO_RESILIENCY;
  }
  noteUnknownKeys(notes, input, ['policies', 'rules']);
  const { policies = {}, rules = [] } = input;
  return compileResiliency(policies, rules, { policies: notes.at('policies'), rules: notes.at('rules') });
}

/** Undefined, and a mistake noted, where it is not JSON. */
function parseJson(text: string, place: string, mistakes: Mistake[]): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    mistakes.push({ place, problem: `is not JSON: ${(error as Error).message}` });
    return undefined;
  }
}
