import {
  type CredentialsServer,
  credentialsServer,
} from '../../adapters/handler-credentials/credentials-server.ts';
import { refreshedCredentials } from '../../adapters/handler-credentials/refreshed-credentials.ts';
import type { JsonLog } from '../../adapters/log/json-log.ts';
import { ConfigurationError } from '../../config/settings/configuration-error.ts';
import type { SidecarConfig } from '../../config/settings/host-config.ts';
import type { Environment } from '../../config/settings/variables.ts';
import { errorText } from '../../core/text/error-text.ts';
import type { Clock } from '../../ports/clock.ts';
import type { AwsClients } from './aws-clients.ts';

/** Serves the credentials of the handler's role. Undefined if the handler has no role. */
export async function credentialsFromConfig(
  { actor, runtime, sqs }: SidecarConfig,
  env: Environment,
  clock: Clock,
  log: JsonLog,
  clients: AwsClients,
): Promise<CredentialsServer | undefined> {
  const { roleArn, command } = runtime;
  if (roleArn === undefined) return undefined;
  if (command === undefined)
    throw new ConfigurationError(
      'asya: ASYA_RUNTIME_ROLE_ARN is set, but the sidecar does not start the runtime and cannot give it credentials; set ASYA_RUNTIME_COMMAND, or give the runtime credentials where you start it',
    );
  const credentials = refreshedCredentials({
    request: clients.assumeRole({ roleArn, region: sqs.region, actor: actor.name }, env),
    now: clock.now,
    onRefreshFailed: (error) =>
      log.warn("the handler's credentials were not renewed; the current ones are still valid", {
        problem: errorText(error),
      }),
  });
  return credentialsServer({ credentials, onWarning: (message, details) => log.warn(message, details) });
}
