import { type Mistake, mistakesText } from '../../core/text/mistake.ts';
import { countText } from './count-text.ts';

/** The error message for an invalid mesh: a heading, and one line per mistake. */
export function invalidMeshText(mistakes: readonly Mistake[]): string {
  const lines = mistakesText(mistakes).replace(/^/gm, '  ');
  return `asya: ${countText(mistakes.length, 'mistake')} in the mesh\n${lines}`;
}

export function warningsText(warnings: readonly Mistake[]): string {
  return mistakesText(warnings).replace(/^/gm, '  warning: ');
}
