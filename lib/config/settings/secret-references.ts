import { isFields } from '../../core/text/fields.ts';
import { type Mistake, mistakeCollector, mistakesText } from '../../core/text/mistake.ts';
import type { Kind } from './kinds.ts';
import { readSecretReference, type SecretReferences, variableNameProblem } from './secret-reference.ts';

const EXAMPLE = '{"OPENAI_API_KEY":{"secretsManager":"my/openai","key":"api_key"}}';

/**
 * References to secrets by variable, as JSON. They are not secret themselves, but a user may write a value in the place of
 * a reference, so messages do not repeat the text, and handlers do not receive the variable.
 */
export const secretReferences: Kind<SecretReferences> = {
  isSecret: true,
  takes: `a JSON object such as \`${EXAMPLE}\``,
  read: (text) => {
    const value = parsed(text);
    if (!isFields(value)) return { problem: `expected a JSON object such as ${EXAMPLE}` };
    const mistakes: Mistake[] = [];
    const entries = Object.entries(value).flatMap(([name, given]) => {
      const notes = mistakeCollector(mistakes, name);
      const problem = variableNameProblem(name);
      if (problem !== undefined) notes.add(problem);
      const reference = readSecretReference(given, notes);
      return reference === undefined ? [] : [[name, reference] as const];
    });
    if (mistakes.length > 0) return { problem: mistakesText(mistakes).replaceAll('\n', '; ') };
    return { value: Object.fromEntries(entries) };
  },
  write: (references) => JSON.stringify(references),
};

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
