/** Temporary credentials of the handler's role. */
export interface Credentials {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken: string;
  /** Milliseconds since 1970-01-01T00:00:00Z. */
  readonly expiresAt: number;
}

/** Requests new credentials. Rejects if they are refused. */
export type RequestCredentials = () => Promise<Credentials>;
