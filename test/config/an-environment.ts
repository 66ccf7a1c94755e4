import { readEnvironment } from '../../lib/config/settings/environment.ts';
import type { FullConfig } from '../../lib/config/settings/host-config.ts';
import type { ReadFile } from '../../lib/config/settings/resiliency.ts';
import type { Environment } from '../../lib/config/settings/variables.ts';
import { mistakesText } from '../../lib/core/text/mistake.ts';

export const noFile: ReadFile = () => ({ problem: 'no such file' });

export function fileOf(text: string): ReadFile {
  return () => ({ text });
}

/** The configuration of an actor called `score` with these additional variables. */
export function configOf(env: Environment = {}, readFile: ReadFile = noFile): FullConfig {
  const reading = readEnvironment({ ASYA_ACTOR_NAME: 'score', ...env }, readFile);
  if ('mistakes' in reading) throw new Error(`refused: ${mistakesText(reading.mistakes)}`);
  return reading.config;
}

/** The printed mistakes, one line each. Empty if there are none. */
export function refusalOf(env: Environment, readFile: ReadFile = noFile): readonly string[] {
  const reading = readEnvironment({ ASYA_ACTOR_NAME: 'score', ...env }, readFile);
  return 'mistakes' in reading ? mistakesText(reading.mistakes).split('\n') : [];
}
