import { withoutRequest } from '../core/text/error-text.ts';

/** One AWS service in one region, by its JSON protocol. Requests are signed, and retried where that can help. */
export interface AwsJsonService {
  /**
   * Calls an operation with the input that its API describes, and resolves with its output. Rejects with an `AwsError` if
   * the service refuses, and with the connection's error if there is no answer.
   */
  call<Output>(operation: string, input: object, options?: AwsCallOptions): Promise<Output>;
  /** The address that requests go to. */
  readonly endpoint: URL;
  /** Opens a connection, so that the first call does not wait for it. Failing is harmless. */
  connect(): void;
  close(): void;
}

/** The same by the query protocol, whose answers are XML documents. */
export interface AwsQueryService extends Omit<AwsJsonService, 'call'> {
  call(
    action: string,
    parameters: Readonly<Record<string, string>>,
    options?: AwsCallOptions,
  ): Promise<AwsQueryAnswer>;
}

interface AwsQueryAnswer {
  /** The text of the only element with this name. Undefined if there is none, or more than one. */
  textOf(element: string): string | undefined;
}

export interface AwsCallOptions {
  /** How long one attempt waits for its answer. */
  readonly timeoutMs?: number;
  readonly signal?: AbortSignal;
}

/** What signs requests. */
export interface AwsCredentials {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  /** Of temporary credentials. */
  readonly sessionToken?: string;
}

/** An error that a service answered with. Its name is the code of the error, such as `QueueDoesNotExist`. */
export interface AwsError extends Error {
  readonly status: number;
}

export function awsError(code: string, message: string, status: number): AwsError {
  return Object.assign(new Error(withoutRequest(message)), { name: code, status });
}
