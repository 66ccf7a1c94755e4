import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseEnv } from 'node:util';
import type { ActorSpec } from '../../config/manifest/manifest.ts';
import type { Environment } from '../../config/settings/variables.ts';
import { describeValue } from '../../core/text/describe-value.ts';

export const ENV_FILE = '.env';

/** The secrets of an actor on this machine. */
export interface LocalSecrets {
  readonly values: Readonly<Record<string, string>>;
  /** Where each value was found. */
  readonly foundIn: Readonly<Record<string, typeof ENV_FILE | 'shell'>>;
  /** Variables that have no value, with their line in the actor's file. */
  readonly missing: readonly { readonly variable: string; readonly line: number }[];
}

/** The variables in `.env` of the mesh's folder. Empty if the file does not exist. Throws if it cannot be read. */
export function readEnvFile(folder: string): Environment {
  try {
    return parseEnv(readFileSync(join(folder, ENV_FILE), 'utf8'));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return {};
    throw error;
  }
}

/**
 * Finds the value of each secret by its variable: in `.env`, then in the shell. An empty value counts as missing: it is
 * usually a line that waits to be filled in.
 */
export function localSecrets(
  { secrets = {} }: ActorSpec,
  envFile: Environment,
  shell: Environment,
): LocalSecrets {
  const values: Record<string, string> = {};
  const foundIn: Record<string, typeof ENV_FILE | 'shell'> = {};
  const missing: { variable: string; line: number }[] = [];
  for (const [variable, { line }] of Object.entries(secrets)) {
    const value = envFile[variable] || shell[variable];
    if (value) {
      values[variable] = value;
      foundIn[variable] = envFile[variable] ? ENV_FILE : 'shell';
    } else missing.push({ variable, line });
  }
  return { values, foundIn, missing };
}

/** The message for an actor that waits for its secrets. Undefined if none is missing. */
export function missingSecretsText(
  spec: ActorSpec,
  { missing }: LocalSecrets,
  folder: string,
): string | undefined {
  if (missing.length === 0) return undefined;
  const names = missing.map(({ variable, line }) => `${variable} (${spec.file}:${line})`).join(', ');
  const path = describeValue(join(folder, ENV_FILE));
  return `actor "${spec.name}" waits, and its envelopes stay in its queue: no value for ${names}; add it to ${path}, or set it in the shell and start the mesh again`;
}
