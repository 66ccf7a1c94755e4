import { type ActorAccess, bucketVariable, hasPermissions } from '../../config/manifest/access.ts';
import type { VariableMap } from '../../config/settings/handler-identity.ts';
import { HANDLER_CREDENTIALS } from '../engines/handler-guard.ts';

type Environment = Readonly<Record<string, string | undefined>>;

/** Variables that describe the process of `asya dev` itself. */
const NOT_PASSED = /^AWS_(LAMBDA_|EXECUTION_ENV$)/;

/** Variables that a handler has without permissions. They would hide the developer's configuration. */
const HIDING = [
  'AWS_REGION',
  'AWS_DEFAULT_REGION',
  'AWS_CONFIG_FILE',
  'AWS_SHARED_CREDENTIALS_FILE',
  'AWS_EC2_METADATA_DISABLED',
  'BOTO_CONFIG',
] as const;

export interface HandlerAccess {
  /** For `ASYA_RUNTIME_ENV`. */
  readonly env?: VariableMap;
  /** What the developer has to do before the handler can work. */
  readonly warnings: readonly string[];
}

/** How a handler reaches AWS on this machine: through the developer's shell, the embedded engines, or not at all. */
export function localHandlerAccess(
  access: ActorAccess | undefined,
  s3Endpoint: string,
  shell: Environment,
): HandlerAccess {
  if (access === undefined || !hasPermissions(access)) return { warnings: [] };
  return access.localAws === 'embedded'
    ? { env: embedded(access, s3Endpoint), warnings: [] }
    : fromShell(access, shell);
}

/** Every service is at the engine, which answers handlers for S3 only. Nothing reaches an account by mistake. */
function embedded({ buckets }: ActorAccess, s3Endpoint: string): VariableMap {
  return {
    AWS_ENDPOINT_URL: s3Endpoint,
    AWS_ENDPOINT_URL_S3: s3Endpoint,
    AWS_ACCESS_KEY_ID: HANDLER_CREDENTIALS.accessKeyId,
    AWS_SECRET_ACCESS_KEY: HANDLER_CREDENTIALS.secretAccessKey,
    ...Object.fromEntries(buckets.map((name) => [bucketVariable(name), name])),
  };
}

function fromShell({ buckets }: ActorAccess, shell: Environment): HandlerAccess {
  const names = Object.keys(shell).filter((name) => name.startsWith('AWS_') && !NOT_PASSED.test(name));
  const variables = buckets.map(bucketVariable);
  const passed = [...names, ...variables].flatMap((name) =>
    shell[name] === undefined ? [] : [[name, shell[name]]],
  );
  return {
    env: { ...Object.fromEntries(HIDING.map((name) => [name, null])), ...Object.fromEntries(passed) },
    warnings: variables
      .filter((name) => !shell[name])
      .map(
        (name) =>
          `${name} is not set; set it to the name of a bucket in your account, or set spec.local.aws to "embedded"`,
      ),
  };
}
