import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/**
 * A server that implements one call of Secrets Manager and one of Systems Manager, as far as the readers use them, so that
 * tests do not need moto. The readers themselves are tested against moto.
 */
export interface SecretStore {
  /** For the environment of a sidecar that uses it. */
  readonly variables: Readonly<Record<string, string>>;
  /** Texts of secrets by name. */
  readonly secrets: Map<string, string>;
  /** Values of parameters by name. */
  readonly parameters: Map<string, string>;
  /** The operation and the name of each request. */
  readonly requests: string[];
  close(): Promise<void>;
}

export async function startSecretStore(): Promise<SecretStore> {
  const secrets = new Map<string, string>();
  const parameters = new Map<string, string>();
  const requests: string[] = [];
  const server = createServer(async (request, response) => {
    let body = '';
    for await (const chunk of request) body += chunk;
    const operation = String(request.headers['x-amz-target']);
    const { SecretId, Name, WithDecryption } = JSON.parse(body) as Readonly<Record<string, string>>;
    requests.push(`${operation} ${SecretId ?? Name}`);
    const answer = (status: number, content: object) =>
      response
        .writeHead(status, { 'content-type': 'application/x-amz-json-1.1' })
        .end(JSON.stringify(content));
    const secret = secrets.get(SecretId ?? '');
    const parameter = parameters.get(Name ?? '');
    if (operation === 'secretsmanager.GetSecretValue' && secret !== undefined)
      answer(200, { Name: SecretId, SecretString: secret });
    else if (operation === 'AmazonSSM.GetParameter' && parameter !== undefined && WithDecryption)
      answer(200, { Parameter: { Name, Type: 'SecureString', Value: parameter } });
    else answer(400, { __type: 'ResourceNotFoundException', message: 'there is no such secret' });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    variables: {
      AWS_ENDPOINT_URL_SECRETS_MANAGER: endpoint,
      AWS_ENDPOINT_URL_SSM: endpoint,
      AWS_REGION: 'us-east-1',
      AWS_ACCESS_KEY_ID: 'local',
      AWS_SECRET_ACCESS_KEY: 'local',
    },
    secrets,
    parameters,
    requests,
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
