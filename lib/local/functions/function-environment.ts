import { delimiter, dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { LOCAL_REGION } from '../engines/engines.ts';

type Environment = Readonly<Record<string, string | undefined>>;

export interface FunctionIdentity {
  readonly name: string;
  readonly memoryMb: number;
}

/** What any program needs, of the mesh's own environment. Nothing else of it reaches a function. */
const HANDED_ON = ['HOME', 'LANG', 'LC_ALL', 'TZ', 'TMPDIR', 'NODE_COMPILE_CACHE'];

/** Of ours alone: what is found there is run. It makes an instance's start three times as quick. */
const COMPILE_CACHE = fileURLToPath(new URL('../../../node_modules/.cache/asya-node', import.meta.url));

/**
 * The environment that a function has on Lambda, on this machine. The credentials are good for the embedded engines
 * alone, and the user's own AWS files are out of sight, so that nothing here can reach a real account by mistake.
 */
export function functionEnvironment(
  { name, memoryMb }: FunctionIdentity,
  variables: Readonly<Record<string, string>>,
  own: Environment,
): Record<string, string> {
  const handedOn = HANDED_ON.flatMap((key) => (own[key] === undefined ? [] : [[key, own[key]]]));
  return {
    NODE_COMPILE_CACHE: COMPILE_CACHE,
    ...Object.fromEntries(handedOn),
    // The node that runs us comes first, for runtimes that are started by its name.
    PATH: [dirname(process.execPath), own['PATH'] ?? ''].join(delimiter),
    AWS_REGION: LOCAL_REGION,
    AWS_DEFAULT_REGION: LOCAL_REGION,
    AWS_ACCESS_KEY_ID: 'local',
    AWS_SECRET_ACCESS_KEY: 'local',
    AWS_CONFIG_FILE: '/dev/null',
    AWS_SHARED_CREDENTIALS_FILE: '/dev/null',
    AWS_LAMBDA_FUNCTION_NAME: name,
    AWS_LAMBDA_FUNCTION_VERSION: '$LATEST',
    AWS_LAMBDA_FUNCTION_MEMORY_SIZE: String(memoryMb),
    AWS_LAMBDA_INITIALIZATION_TYPE: 'on-demand',
    AWS_LAMBDA_LOG_GROUP_NAME: `/aws/lambda/${name}`,
    AWS_LAMBDA_LOG_STREAM_NAME: 'local',
    ...variables,
  };
}
