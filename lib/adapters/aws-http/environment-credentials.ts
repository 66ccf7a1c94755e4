import { credentialsFor } from '../../config/settings/local-endpoint.ts';
import type { Environment } from '../../config/settings/variables.ts';
import type { AwsCredentials } from '../../ports/aws-service.ts';

/** The credentials of the environment. They are read for each request, because they may be replaced at any time. */
export function environmentCredentials(env: Environment, endpoint: URL): () => AwsCredentials {
  const { credentials: placeholder } = credentialsFor(endpoint.href, env);
  return () => {
    const accessKeyId = env['AWS_ACCESS_KEY_ID'];
    const secretAccessKey = env['AWS_SECRET_ACCESS_KEY'];
    const sessionToken = env['AWS_SESSION_TOKEN'];
    if (accessKeyId && secretAccessKey)
      return { accessKeyId, secretAccessKey, ...(sessionToken && { sessionToken }) };
    if (placeholder !== undefined) return placeholder;
    throw new Error(
      `asya: ${accessKeyId ? 'AWS_SECRET_ACCESS_KEY' : 'AWS_ACCESS_KEY_ID'} is not set; Lambda sets the credentials of the function's role in the environment. ` +
        'For other sources of credentials use a host with the AWS SDK: `asya sidecar`, or ASYA_SQS_CLIENT=sdk',
    );
  };
}
