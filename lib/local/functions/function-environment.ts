import { delimiter, dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { LOCAL_REGION } from '../engines/engines.ts';

type Environment = Readonly<Record<string, string | undefined>>;

export interface FunctionIdentity {
  readonly name: string;
  readonly memoryMb: number;
}

/** Variables of this process that functions inherit, besides `PATH`. No others reach a function. */
export const INHERITED = ['HOME', 'LANG', 'LC_ALL', 'TZ', 'TMPDIR', 'NODE_COMPILE_CACHE'];

/** Our own folder, because code in the cache is executed. It makes the start of an instance three times as fast. */
const COMPILE_CACHE = fileURLToPath(new URL('../../../node_modules/.cache/asya-node', import.meta.url));

/**
 * The environment of a Lambda function on this machine. The credentials are valid for the embedded engines only, and the
 * user's AWS configuration files are not visible, so that functions cannot reach a real account by mistake.
 */
export function functionEnvironment(
  { name, memoryMb }: FunctionIdentity,
  variables: Readonly<Record<string, string>>,
  own: Environment,
): Record<string, string> {
  const inherited = INHERITED.flatMap((key) => (own[key] === undefined ? [] : [[key, own[key]]]));
  return {
    NODE_COMPILE_CACHE: COMPILE_CACHE,
    ...Object.fromEntries(inherited),
    // Our own Node comes first on the PATH, for runtimes that start `node`.
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
