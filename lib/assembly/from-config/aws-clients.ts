import type { RequestCredentials } from '../../adapters/handler-credentials/credentials.ts';
import type { AssumeRoleOptions } from '../../adapters/handler-credentials/session.ts';
import type { Environment } from '../../config/settings/variables.ts';
import type { SecretReading } from '../../ports/secret-source.ts';

export type ReadText = (name: string) => Promise<SecretReading>;

/** How a host reads secrets and assumes roles: by the AWS SDK, or on Lambda by our own client. */
export interface AwsClients {
  secretsManager(region: string, env: Environment): Promise<ReadText>;
  parameterStore(region: string, env: Environment): Promise<ReadText>;
  assumeRole(options: AssumeRoleOptions, env: Environment): RequestCredentials;
}
