import { NO_RESILIENCY, type Resiliency } from '../../core/policy/policy.ts';
import { compileResiliency, NOT_JSON } from '../../core/policy/resiliency-input.ts';
import { describeValue } from '../../core/text/describe-value.ts';
import { isFields } from '../../core/text/fields.ts';
import { addUnknownKeys, type Mistake, mistakeCollector } from '../../core/text/mistake.ts';

const POLICIES = 'ASYA_RESILIENCY_POLICIES';
const RULES = 'ASYA_RESILIENCY_RULES';
const FILE = 'ASYA_RESILIENCY_FILE';

export interface ResiliencyTexts {
  readonly policies?: string;
  readonly rules?: string;
  readonly file?: string;
}

/** Returns the text of a file, or why it cannot be read. */
export type ReadFile = (path: string) => { readonly text: string } | { readonly problem: string };

/** Reads policies and rules from the two variables or from the file. Both at once are a mistake. */
export function readResiliency(texts: ResiliencyTexts, readFile: ReadFile, mistakes: Mistake[]): Resiliency {
  const { policies, rules, file } = texts;
  const both = [policies === undefined ? [] : [POLICIES], rules === undefined ? [] : [RULES]].flat();
  if (file === undefined || both.length > 0) {
    if (file !== undefined) {
      const problem = `is set together with ${both.join(' and ')}; keep either the file or the variables`;
      mistakes.push({ place: FILE, problem });
      readResiliencyFile(file, readFile, mistakes);
    }
    return readVariables(policies, rules, mistakes);
  }
  return readResiliencyFile(file, readFile, mistakes);
}

function readVariables(policies = '{}', rules = '[]', mistakes: Mistake[]): Resiliency {
  const notes = { policies: mistakeCollector(mistakes, POLICIES), rules: mistakeCollector(mistakes, RULES) };
  return compileResiliency(parseJson(policies, POLICIES, mistakes), parseJson(rules, RULES, mistakes), notes);
}

function readResiliencyFile(path: string, readFile: ReadFile, mistakes: Mistake[]): Resiliency {
  const notes = mistakeCollector(mistakes, `${FILE} (${path})`);
  const content = readFile(path);
  if ('problem' in content) {
    notes.add(`cannot be read: ${content.problem}`);
    return NO_RESILIENCY;
  }
  const input = parseJson(content.text, notes.place, mistakes);
  if (input === NOT_JSON) return NO_RESILIENCY;
  if (!isFields(input)) {
    notes.add(`contains ${describeValue(input)}; expected {"policies":{...},"rules":[...]}`);
    return NO_RESILIENCY;
  }
  addUnknownKeys(notes, input, ['policies', 'rules']);
  const { policies = {}, rules = [] } = input;
  return compileResiliency(policies, rules, { policies: notes.at('policies'), rules: notes.at('rules') });
}

/** Reports a mistake and returns `NOT_JSON` if the text is not JSON. */
function parseJson(text: string, place: string, mistakes: Mistake[]): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    mistakes.push({ place, problem: `is not JSON: ${(error as Error).message}` });
    return NOT_JSON;
  }
}
