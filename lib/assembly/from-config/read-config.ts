import { readFileSync } from 'node:fs';
import type { ReadHostConfig } from '../../config/settings/read-host-config.ts';
import type { ReadFile } from '../../config/settings/resiliency.ts';
import type { Environment } from '../../config/settings/variables.ts';
import { type Mistake, mistakesText } from '../../core/text/mistake.ts';

const readFile: ReadFile = (path) => {
  try {
    return { text: readFileSync(path, 'utf8') };
  } catch (error) {
    return { problem: (error as Error).message };
  }
};

/** The configuration of a host, or a message with every mistake for the operator. */
export function configFromEnvironment<Config>(
  read: ReadHostConfig<Config>,
  env: Environment,
): { readonly config: Config } | { readonly message: string } {
  const reading = read(env, readFile);
  if ('config' in reading) return reading;
  return { message: mistakesMessage(reading.mistakes) };
}

export function mistakesMessage(mistakes: readonly Mistake[]): string {
  const count = mistakes.length === 1 ? '1 mistake' : `${mistakes.length} mistakes`;
  return `asya: ${count} in the configuration\n${mistakesText(mistakes).replace(/^/gm, '  ')}`;
}
