import { readFileSync } from 'node:fs';
import { readEnvironment } from '../../config/settings/environment.ts';
import type { ReadFile } from '../../config/settings/resiliency.ts';
import type { SidecarConfig } from '../../config/settings/sidecar-config.ts';
import type { Environment } from '../../config/settings/variables.ts';
import { type Mistake, mistakesText } from '../../core/text/mistake.ts';

const readFile: ReadFile = (path) => {
  try {
    return { text: readFileSync(path, 'utf8') };
  } catch (error) {
    return { problem: (error as Error).message };
  }
};

/** The configuration, or every mistake in words for whoever has to mend it. */
export function configFromEnvironment(env: Environment): { config: SidecarConfig } | { message: string } {
  const reading = readEnvironment(env, readFile);
  if ('config' in reading) return reading;
  return { message: mistakesMessage(reading.mistakes) };
}

export function mistakesMessage(mistakes: readonly Mistake[]): string {
  const count = mistakes.length === 1 ? 'a mistake' : `${mistakes.length} mistakes`;
  return `asya: ${count} in the configuration\n${mistakesText(mistakes).replace(/^/gm, '  ')}`;
}
