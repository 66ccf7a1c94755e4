/** Sends HTTP requests over connections that stay open between them. */
export interface HttpClient {
  /**
   * Sends a POST request and waits for the whole answer, whatever its status. Rejects if there is none: the connection
   * cannot be opened or is lost, the timeout is over, or the signal aborts.
   */
  post(request: HttpPost): Promise<HttpAnswer>;
  /**
   * Opens a connection to the host of this URL, so that the first request does not wait for it. If it fails, nothing
   * happens: the first request then opens its own.
   */
  connect(url: URL): void;
  /** Closes all connections. Requests in flight reject. */
  close(): void;
}

export interface HttpPost {
  readonly url: URL;
  /** By name in lower case. `content-length` and, if it is missing, `host` are added. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** How long the answer may take to begin, and then to continue. @default the client's */
  readonly timeoutMs?: number;
  readonly signal?: AbortSignal;
}

export interface HttpAnswer {
  readonly status: number;
  /** By name in lower case. */
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  readonly body: string;
}
