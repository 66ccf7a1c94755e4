import { localSecrets, missingSecretsText, readEnvFile } from '../../assembly/mesh/local-secrets.ts';
import type { ActorSpec } from '../../config/manifest/manifest.ts';
import type { Environment } from '../../config/settings/variables.ts';

/** The secrets of a local mesh's actors, as `.env` was when it was last read. */
export interface MeshSecrets {
  /** Reads `.env` again. Returns the actors whose secrets have changed. Throws if the file cannot be read. */
  changes(actors: readonly ActorSpec[]): readonly ActorSpec[];
  values(actor: ActorSpec): Readonly<Record<string, string>>;
  /** Which secrets of the actor have no value. Undefined: none. */
  problem(actor: ActorSpec): string | undefined;
}

export function meshSecrets(folder: string, shell: Environment): MeshSecrets {
  let envFile = readEnvFile(folder);
  const secretsOf = (actor: ActorSpec) => localSecrets(actor, envFile, shell);
  return {
    changes: (actors) => {
      const before = new Map(actors.map((actor) => [actor, textOf(secretsOf(actor).values)]));
      envFile = readEnvFile(folder);
      return actors.filter((actor) => before.get(actor) !== textOf(secretsOf(actor).values));
    },
    values: (actor) => secretsOf(actor).values,
    problem: (actor) => missingSecretsText(actor, secretsOf(actor), folder),
  };
}

function textOf(values: Readonly<Record<string, string>>): string {
  return JSON.stringify(values);
}
