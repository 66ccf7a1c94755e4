import type { RuntimeSpec } from '../../config/manifest/manifest.ts';
import { type ErrorLanguage, errorAncestry } from '../../core/policy/standard-errors.ts';

/**
 * The `mro` of an error as its runtime would report it: the class, its ancestors (`given`, or the standard ones of the
 * language), and the end of every chain.
 */
export function mroOf(
  type: string,
  given: readonly string[],
  runtime: RuntimeSpec['kind'],
): readonly string[] {
  return errorAncestry(type, given, languageOf(runtime));
}

function languageOf(runtime: RuntimeSpec['kind']): ErrorLanguage {
  return runtime === 'node' ? 'node' : 'python';
}
