import { backoffMs } from '../../async/backoff.ts';
import type { Environment } from '../../config/settings/variables.ts';
import type { AwsCallOptions, AwsError } from '../../ports/aws-service.ts';
import type { Clock, Random } from '../../ports/clock.ts';
import type { HttpAnswer, HttpClient } from '../../ports/http-client.ts';
import { type AwsServiceName, awsEndpoint } from './aws-endpoint.ts';
import { environmentCredentials } from './environment-credentials.ts';
import { maxAttemptsFrom } from './max-attempts.ts';
import { FIRST_PAUSE_MS, retryReason } from './retry-reason.ts';
import { serviceTime } from './service-time.ts';
import { signedHeaders } from './signature.ts';
import { signingKeys } from './signing-keys.ts';

export interface AwsAccess {
  readonly region: string;
  /** @default that of `AWS_ENDPOINT_URL_...`, then that of the region */
  readonly endpoint?: string;
  /** Credentials and the variables that the AWS SDK reads. */
  readonly env: Environment;
  readonly http: HttpClient;
  readonly clock: Clock;
  readonly random: Random;
}

/** Signed requests to one service. */
export interface AwsRequests {
  /**
   * Sends a request, and resolves with the body of a successful answer.
   * @param errorOf The error that an answer describes.
   */
  send(
    request: AwsRequest,
    errorOf: (answer: HttpAnswer) => AwsError,
    options?: AwsCallOptions,
  ): Promise<string>;
  readonly endpoint: URL;
  connect(): void;
  close(): void;
}

interface AwsRequest {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

const MAX_PAUSE_MS = 20_000;

/** Throws if the environment has an invalid setting. */
export function awsRequests(service: AwsServiceName, access: AwsAccess): AwsRequests {
  const { region, env, http, clock, random } = access;
  const url = awsEndpoint(service, access, env);
  const credentials = environmentCredentials(env, url);
  const maxAttempts = maxAttemptsFrom(env);
  const time = serviceTime(clock.now);
  const keys = signingKeys();

  function signed({ headers, body }: AwsRequest, signedAtMs: number): Record<string, string> {
    const request = { method: 'POST', path: url.pathname, headers: { host: url.host, ...headers }, body };
    const scope = { region, service: service.id };
    return { ...signedHeaders(request, credentials(), scope, signedAtMs, keys), ...unsignedHeaders(env) };
  }

  return {
    endpoint: url,
    connect: () => http.connect(url),
    close: () => http.close(),
    send: async (request, errorOf, options = {}) => {
      for (let attempts = 1; ; attempts++) {
        let problem: unknown;
        const signedAtMs = time.now();
        try {
          const headers = signed(request, signedAtMs);
          const answer = await http.post({ url, headers, body: request.body, ...options });
          if (answer.status < 300) return answer.body;
          const error = errorOf(answer);
          // The next signature has the right time, so there is no reason to wait.
          if (attempts < maxAttempts && time.correct(error.name, answer.headers['date'], signedAtMs))
            continue;
          problem = error;
        } catch (error) {
          problem = error;
        }
        const reason = options.signal?.aborted ? undefined : retryReason(problem);
        if (reason === undefined || attempts >= maxAttempts) throw problem;
        const pauseMs = backoffMs(FIRST_PAUSE_MS[reason], attempts, MAX_PAUSE_MS, random);
        await clock.sleep(pauseMs, options.signal);
      }
    },
  };
}

/** Lambda's tracing connects this request with the invocation, as with the AWS SDK. */
function unsignedHeaders(env: Environment): Record<string, string> {
  const trace = env['AWS_LAMBDA_FUNCTION_NAME'] ? env['_X_AMZN_TRACE_ID'] : undefined;
  return { 'user-agent': 'asya-serverless', ...(trace && { 'x-amzn-trace-id': trace }) };
}
