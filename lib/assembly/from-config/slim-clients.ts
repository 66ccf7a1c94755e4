import { awsJsonService } from '../../adapters/aws-http/json-service.ts';
import { awsStsService } from '../../adapters/aws-http/query-service.ts';
import { slimAssumeRole } from '../../adapters/handler-credentials/slim-assume-role.ts';
import { type HttpClientOptions, httpClient } from '../../adapters/http-client/http-client.ts';
import { slimSecretsManager } from '../../adapters/secrets-manager/secret-reader.ts';
import { slimParameterStore } from '../../adapters/ssm/parameter-reader.ts';
import { systemClock, systemRandom } from '../../adapters/system/system.ts';
import type { Environment } from '../../config/settings/variables.ts';
import type { AwsClients } from './aws-clients.ts';

const SECRETS = { connectTimeoutMs: 3_000, timeoutMs: 5_000 };
const STS = { connectTimeoutMs: 3_000, timeoutMs: 10_000 };

/** Our own client, with the credentials that Lambda puts into the environment. */
export const SLIM_CLIENTS: AwsClients = {
  secretsManager: async (region, env) =>
    slimSecretsManager(awsJsonService('secretsManager', accessTo(region, env, SECRETS))),
  parameterStore: async (region, env) =>
    slimParameterStore(awsJsonService('ssm', accessTo(region, env, SECRETS))),
  assumeRole: (options, env) => slimAssumeRole(awsStsService(accessTo(options.region, env, STS)), options),
};

function accessTo(region: string, env: Environment, timeouts: HttpClientOptions) {
  return { region, env, http: httpClient(timeouts), clock: systemClock, random: systemRandom };
}
