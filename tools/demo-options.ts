import { suggestion } from '../lib/core/text/nearest.ts';

export interface DemoOptions {
  /** Whether the mesh stays up after the table. */
  readonly keep: boolean;
}

const KEEP = '--keep';

/** Reads the arguments of `npm run demo -- ARGUMENTS`. */
export function demoOptions(args: readonly string[]): DemoOptions | { readonly problem: string } {
  const unknown = args.find((arg) => arg !== KEEP);
  if (unknown === undefined) return { keep: args.length > 0 };
  return { problem: `demo: unknown option "${unknown}"; expected ${KEEP}${suggestion(unknown, [KEEP])}` };
}
