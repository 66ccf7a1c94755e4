import { parseArgs } from 'node:util';
import { suggestion } from '../lib/core/text/nearest.ts';

export interface DemoOptions {
  /** Whether the mesh stays up after the table. */
  readonly keep: boolean;
}

const OPTIONS = { keep: { type: 'boolean' } } as const;

/** Reads the arguments of `npm run demo -- ARGUMENTS`. */
export function demoOptions(args: readonly string[]): DemoOptions | { readonly problem: string } {
  const { values, tokens } = parseArgs({ args: [...args], options: OPTIONS, strict: false, tokens: true });
  for (const token of tokens) {
    const isKnown = token.kind === 'option' && token.rawName === '--keep' && token.value === undefined;
    if (isKnown) continue;
    const typed = token.kind === 'option' ? token.rawName : token.kind === 'positional' ? token.value : '--';
    return {
      problem: `demo: unexpected argument "${typed}"; expected --keep or nothing${suggestion(typed, ['--keep'])}`,
    };
  }
  return { keep: values['keep'] === true };
}
