import { assumeRole } from '../../adapters/handler-credentials/assume-role.ts';
import type { AwsClients } from './aws-clients.ts';

/**
 * The clients of the AWS SDK, which finds credentials in many places. Each is imported when it is first needed: most actors
 * have no secrets and no role.
 */
export const SDK_CLIENTS: AwsClients = {
  secretsManager: async (region, env) => {
    const { secretsManager } = await import('../../adapters/secrets-manager/read-secret.ts');
    return secretsManager({ region }, env);
  },
  parameterStore: async (region, env) => {
    const { parameterStore } = await import('../../adapters/ssm/read-parameter.ts');
    return parameterStore({ region }, env);
  },
  assumeRole: (options) => assumeRole(options),
};
