import { isCloudCredential } from './cloud-credentials.ts';
import { CREDENTIAL_VARIABLES } from './settings.ts';
import type { Environment } from './variables.ts';

export interface HandlerEnvironmentInput {
  /** The environment of the sidecar. */
  readonly own: Environment;
  /** Variables with credentials that the runtime receives all the same: `ASYA_RUNTIME_PASS_ENV`. */
  readonly passed: readonly string[];
  /** Values of secrets by variable. They override the sidecar's variables. */
  readonly secrets?: Readonly<Record<string, string>>;
  /** Variables that the sidecar sets for the runtime. They override all others. */
  readonly mesh: Readonly<Record<string, string>>;
}

/**
 * The environment of the process that runs a handler: the sidecar's without credentials, then secrets, then what the
 * sidecar sets. `asya env` shows the result of this function.
 */
export function handlerEnvironment(input: HandlerEnvironmentInput): Record<string, string> {
  const { own, passed, secrets, mesh } = input;
  const entries = Object.entries(own).filter(
    (entry): entry is [string, string] => entry[1] !== undefined && !isRemoved(entry[0], passed),
  );
  return { ...Object.fromEntries(entries), ...secrets, ...mesh };
}

/** Whether a handler does not receive this variable of the sidecar. */
export function isRemoved(name: string, passed: readonly string[]): boolean {
  return !passed.includes(name) && (CREDENTIAL_VARIABLES.includes(name) || isCloudCredential(name));
}
