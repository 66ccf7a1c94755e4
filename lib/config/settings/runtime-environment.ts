import { type Mistake, mistakeCollector } from '../../core/text/mistake.ts';
import type { RuntimeAddress } from './addresses.ts';
import { addressOf, addressVariables } from './bundled-runtime.ts';
import { readGroup, settingsByVariable } from './group.ts';
import { RUNTIME } from './groups/runtime.ts';
import { type HandlerEnvironmentInput, handlerEnvironment } from './handler-environment.ts';
import type { VariableMap } from './handler-identity.ts';
import { type Environment, setVariables } from './variables.ts';

interface RuntimeSettings {
  readonly address: RuntimeAddress;
  readonly protocol: string;
  readonly concurrency: number;
  readonly passEnv: readonly string[];
  readonly env?: VariableMap;
}

type Known = Pick<HandlerEnvironmentInput, 'credentials' | 'region' | 'secrets' | 'set'>;

/**
 * The environment of a runtime that the sidecar starts.
 * @param known What the sidecar had to find out: the values of secrets, and credentials.
 */
export function runtimeEnvironment(
  { address, protocol, concurrency, passEnv, env: set }: RuntimeSettings,
  own: Environment,
  known: Known = {},
): Record<string, string> {
  const mesh = { ...addressVariables(address, concurrency), ASYA_RUNTIME_PROTOCOL: protocol };
  return handlerEnvironment({ own, passed: passEnv, ...(set !== undefined && { set }), ...known, mesh });
}

/** How a runtime is started. */
export interface RuntimeStart {
  readonly command: string;
  readonly env: Record<string, string>;
}

const VARIABLES = settingsByVariable([RUNTIME]);

/**
 * The start of a bundled runtime if nothing else has to be read for it: the handler has no secrets and no role. Undefined
 * otherwise, and if a setting of the runtime is not valid, which reading the whole configuration reports. Only this part
 * is read, so that a function can start its runtime before it loads its own code.
 */
export function runtimeStart(own: Environment): RuntimeStart | undefined {
  const mistakes: Mistake[] = [];
  const env = setVariables(VARIABLES, own);
  const { address: given, ...runtime } = readGroup(RUNTIME, env, mistakes);
  const { command, secrets = {}, roleArn, protocol } = runtime;
  const address = addressOf({ address: given, command, protocol }, '', mistakeCollector(mistakes, ''));
  if (command === undefined || address.kind !== 'inherited' || mistakes.length > 0) return undefined;
  if (Object.keys(secrets).length > 0 || roleArn !== undefined) return undefined;
  return { command, env: runtimeEnvironment({ ...runtime, address }, own) };
}
