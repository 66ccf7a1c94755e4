import type { AgentOptions } from 'node:https';
import type { HttpAnswer, HttpClient } from '../../ports/http-client.ts';
import { type KeptConnections, keptConnections } from './kept-connections.ts';
import { type NoAnswer, sendOnce } from './send-once.ts';

export interface HttpClientOptions {
  /** How long a new connection may take, with its TLS handshake. @default 5,000 */
  readonly connectTimeoutMs?: number;
  /** Of requests without a timeout of their own. @default 35,000 */
  readonly timeoutMs?: number;
  /** Options of TLS, such as certificates to trust. @default those of Node */
  readonly tls?: AgentOptions;
}

const CONNECT_TIMEOUT_MS = 5_000;
const TIMEOUT_MS = 35_000;

/**
 * Sends requests over connections that stay open. While a Lambda function is frozen, the other side may close them: a
 * request that finds its connection closed is sent again at once, over a new one.
 */
export function httpClient(options: HttpClientOptions = {}): HttpClient {
  const { connectTimeoutMs = CONNECT_TIMEOUT_MS, timeoutMs = TIMEOUT_MS, tls } = options;
  const opened = new Map<string, KeptConnections>();

  function connectionsTo({ protocol }: URL): KeptConnections {
    const connections = opened.get(protocol) ?? keptConnections(protocol, tls);
    opened.set(protocol, connections);
    return connections;
  }

  return {
    post: async (request) => {
      const connections = connectionsTo(request.url);
      const timeouts = { connectTimeoutMs, timeoutMs: request.timeoutMs ?? timeoutMs };
      const outcome = await sendOnce(connections, request, timeouts);
      if (!('error' in outcome)) return outcome;
      // The other idle connections are as old.
      if (outcome.kept !== undefined) connections.closeIdle();
      return answerOf(outcome.kept === 'lost' ? await sendOnce(connections, request, timeouts) : outcome);
    },
    connect: (url) => connectionsTo(url).open(url),
    close: () => {
      for (const connections of opened.values()) connections.close();
    },
  };
}

function answerOf(outcome: HttpAnswer | NoAnswer): HttpAnswer {
  if ('error' in outcome) throw outcome.error;
  return outcome;
}
