import { randomBytes } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { AWS_THROTTLING_CODES } from '../../core/policy/aws-throttling.ts';
import { errorText } from '../../core/text/error-text.ts';
import type { Details } from '../../ports/telemetry.ts';
import type { Credentials } from './credentials.ts';
import { refusalOf } from './credentials-request.ts';

export interface CredentialsServerOptions {
  /** Called for each request that has the token. */
  readonly credentials: () => Promise<Credentials>;
  readonly onWarning: (message: string, details: Details) => void;
}

export interface CredentialsServer {
  /** The variables with which every AWS SDK finds the server. They contain the token. */
  readonly variables: Readonly<Record<string, string>>;
  close(): Promise<void>;
}

const LOOPBACK = '127.0.0.1';
const PATH = '/credentials';
/** An SDK repeats a request after this status. */
const TRY_AGAIN = 503;

/** Serves credentials on loopback in the form that AWS SDKs expect of a container: one JSON document for the token. */
export async function credentialsServer(options: CredentialsServerOptions): Promise<CredentialsServer> {
  const { credentials, onWarning } = options;
  // Not an import: an ESM import of node:http takes about 37 ms longer.
  const { createServer } = process.getBuiltinModule('node:http');
  const token = randomBytes(32).toString('base64url');
  let host = '';

  const server = createServer(async (request, response) => {
    const refusal = refusalOf(request, { path: PATH, token, host });
    if (refusal !== undefined) {
      const { status, code, message } = refusal;
      onWarning('a request for credentials was refused', { status, reason: message });
      answer(response, status, errorBody(code, message));
      return;
    }
    try {
      answer(response, 200, documentOf(await credentials()));
    } catch (error) {
      const { name, message } = error instanceof Error ? error : { name: 'Error', message: errorText(error) };
      onWarning('the handler got no credentials', { problem: errorText(error) });
      answer(response, isRefusedBySts(error) ? 400 : TRY_AGAIN, errorBody(name, message));
    }
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, LOOPBACK, resolve);
  });
  host = `${LOOPBACK}:${(server.address() as AddressInfo).port}`;
  server.unref();
  return {
    variables: {
      AWS_CONTAINER_CREDENTIALS_FULL_URI: `http://${host}${PATH}`,
      AWS_CONTAINER_AUTHORIZATION_TOKEN: token,
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function documentOf({ accessKeyId, secretAccessKey, sessionToken, expiresAt }: Credentials): object {
  return {
    AccessKeyId: accessKeyId,
    SecretAccessKey: secretAccessKey,
    Token: sessionToken,
    Expiration: new Date(expiresAt).toISOString(),
  };
}

/** SDKs differ in the case of the names that they read. */
function errorBody(code: string, message: string): object {
  return { code, message, Code: code, Message: message };
}

/**
 * STS understood the request and refused it, for example because the role does not trust the sidecar's role. It answers too
 * many requests with a status of this kind, too, but the next one may be granted.
 */
function isRefusedBySts(error: unknown): boolean {
  const {
    name = '',
    status: own,
    $metadata,
  } = error as {
    readonly name?: string;
    readonly status?: number;
    /** Of errors of the AWS SDK. */
    readonly $metadata?: { readonly httpStatusCode?: number };
  };
  const status = own ?? $metadata?.httpStatusCode ?? 0;
  return status >= 400 && status < 500 && status !== 429 && !AWS_THROTTLING_CODES.includes(name);
}

function answer(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { 'content-type': 'application/json', 'cache-control': 'no-store' });
  response.end(JSON.stringify(body));
}
