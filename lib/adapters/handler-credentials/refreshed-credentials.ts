import { coalesce } from '../../async/coalesce.ts';
import type { Credentials, RequestCredentials } from './credentials.ts';

export interface RefreshOptions {
  readonly request: RequestCredentials;
  readonly now: () => number;
  /** Called if new credentials were refused while the current ones are still valid, and are used instead. */
  readonly onRefreshFailed: (error: unknown) => void;
}

/**
 * New credentials are requested when a third of their lifetime is left: 20 minutes of an hour. SDKs ask again up to 15
 * minutes before the end, and then need credentials that last longer.
 */
const REFRESH_SHARE = 1 / 3;
/** Credentials that end sooner could expire before the handler's request arrives. */
const LAST_USE_MS = 30_000;

/**
 * Keeps credentials and replaces them in time. There is no timer, because a frozen Lambda function would miss it: each
 * call checks the clock. Calls that arrive together share one request.
 */
export function refreshedCredentials({
  request,
  now,
  onRefreshFailed,
}: RefreshOptions): () => Promise<Credentials> {
  let current: { readonly credentials: Credentials; readonly refreshAt: number } | undefined;

  async function renew(): Promise<Credentials> {
    const before = current;
    if (before !== undefined && now() < before.refreshAt) return before.credentials;
    try {
      const startedAt = now();
      const credentials = await request();
      const lifetimeMs = credentials.expiresAt - startedAt;
      current = { credentials, refreshAt: credentials.expiresAt - lifetimeMs * REFRESH_SHARE };
      return credentials;
    } catch (error) {
      if (before === undefined || before.credentials.expiresAt - now() < LAST_USE_MS) throw error;
      onRefreshFailed(error);
      return before.credentials;
    }
  }

  const renewOnce = coalesce<undefined, Credentials>(renew);
  return () => renewOnce('', undefined);
}
