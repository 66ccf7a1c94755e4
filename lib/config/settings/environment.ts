import { isReservedName } from '../../core/envelope/actor-name.ts';
import { defined } from '../../core/text/defined.ts';
import { type Mistake, mistakeCollector } from '../../core/text/mistake.ts';
import { addressOf } from './bundled-runtime.ts';
import { crewRole } from './crew-role.ts';
import { readGroup, reportUnknownVariables } from './group.ts';
import { ACTOR, checkSink, requiredActorName } from './groups/actor.ts';
import { GATEWAY, REPORTING } from './groups/gateway.ts';
import { LOGGING, PROCESS } from './groups/host.ts';
import { MESH, QUEUES } from './groups/mesh.ts';
import { PUSH } from './groups/push.ts';
import { RESILIENCY } from './groups/resiliency.ts';
import { checkSecrets, RUNTIME, RUNTIME_PROCESS } from './groups/runtime.ts';
import { CREW, STORAGE } from './groups/storage.ts';
import type { FullConfig } from './host-config.ts';
import { type ReadFile, readResiliency } from './resiliency.ts';
import type { Group, ReadValues } from './setting.ts';
import { SETTINGS } from './settings.ts';
import { readTransports, selectTransport } from './transports.ts';
import { type Environment, setVariables } from './variables.ts';

export type ConfigReading<Config> =
  | { readonly config: Config }
  /** All mistakes, not only the first. */
  | { readonly mistakes: readonly [Mistake, ...Mistake[]] };

/** Reads the whole environment. A value that is not valid is a mistake; no default replaces it. */
export function readEnvironment(env: Environment, readFile: ReadFile): ConfigReading<FullConfig> {
  const mistakes: Mistake[] = [];
  const config = readConfig(setVariables(SETTINGS, env), readFile, mistakes);
  const [first, ...others] = mistakes;
  return first === undefined ? { config } : { mistakes: [first, ...others] };
}

/** If there are mistakes, the configuration contains placeholders and must not be used. */
function readConfig(env: Environment, readFile: ReadFile, mistakes: Mistake[]): FullConfig {
  reportUnknownVariables('ASYA_', SETTINGS, env, mistakes);
  const read = <G extends Group>(group: G): ReadValues<G> => readGroup(group, env, mistakes);
  const { transport: named, ...mesh } = read(MESH);
  const { timeoutMs, ...resiliency } = read(RESILIENCY);
  const { name: givenName, ...actor } = read(ACTOR);
  const name = requiredActorName(env, givenName, mistakes);
  checkSink(actor.sink, name, mistakes);
  const { address, ...runtime } = read(RUNTIME);
  checkSecrets(runtime, mistakes);
  const { socketPath } = read(RUNTIME_PROCESS);
  const storage = read(STORAGE);
  const crew = read(CREW);
  const transport = selectTransport(env, named, mistakes);
  const hasRuntime = runtime.command !== undefined || address !== undefined;
  const hasStorage = storage.bucket !== undefined || storage.table !== undefined;
  const { namespace } = mesh;
  return {
    actor: {
      ...actor,
      name,
      isEnd: actor.isEnd || isReservedName(name),
      ...defined({ crew: hasRuntime || !hasStorage ? undefined : crewRole(name, crew.sump, namespace) }),
      timeoutMs,
      resiliency: readResiliency(resiliency, readFile, mistakes),
    },
    ...mesh,
    transport,
    runtime: {
      ...runtime,
      address: addressOf(
        { address, ...runtime },
        socketPath,
        mistakeCollector(mistakes, 'ASYA_RUNTIME_PROTOCOL'),
      ),
    },
    ...read(REPORTING),
    gateway: read(GATEWAY),
    push: read(PUSH),
    storage,
    ...crew,
    ...readTransports(transport, { env, actor: { name, timeoutMs }, namespace, mistakes }),
    queues: read(QUEUES),
    ...read(LOGGING),
    ...read(PROCESS),
  };
}
