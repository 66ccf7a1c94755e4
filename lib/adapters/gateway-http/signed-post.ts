import { createHmac } from 'node:crypto';
import type { Report } from '../../core/task/report.ts';
import { SIGNATURE_HEADER, signatureText, signedText } from '../../core/task/report-signature.ts';
import { causeText } from '../../core/text/error-text.ts';
import type { HttpClient } from '../../ports/http-client.ts';

export interface GatewayAddress {
  readonly url: string;
  /** The secret that signs reports. The gateway rejects unsigned reports. */
  readonly secret?: string;
}

/** `canceled`: the reported tasks that are canceled, and others that were canceled recently. */
export type Answer = { readonly canceled: ReadonlySet<string> } | { readonly problem: string };

/** Never rejects. Without reports it only asks which tasks were canceled. */
export type PostReports = (reports: readonly Report[], signal: AbortSignal) => Promise<Answer>;

export function signedPost(
  { url: base, secret }: GatewayAddress,
  http: HttpClient,
  now: () => number,
): PostReports {
  const url = new URL(`${base.replace(/\/+$/, '')}/reports`);
  return async (reports, signal) => {
    const body = JSON.stringify({ reports });
    const headers = { 'content-type': 'application/json', ...signatureOf(body, secret, now()) };
    try {
      const answer = await http.post({ url, headers, body, signal });
      const isAccepted = answer.status >= 200 && answer.status < 300;
      return isAccepted
        ? { canceled: canceledIn(answer.body) }
        : { problem: `${url} answered ${answer.status}` };
    } catch (error) {
      return { problem: `${url}: ${causeText(error)}` };
    }
  };
}

function signatureOf(body: string, secret: string | undefined, now: number): Record<string, string> {
  if (secret === undefined) return {};
  const seconds = Math.floor(now / 1000);
  const mac = createHmac('sha256', secret).update(signedText(seconds, body)).digest('hex');
  return { [SIGNATURE_HEADER]: signatureText({ seconds, mac }) };
}

function canceledIn(text: string): ReadonlySet<string> {
  try {
    const { canceled } = JSON.parse(text) as { canceled?: unknown };
    return new Set(Array.isArray(canceled) ? canceled.filter((id) => typeof id === 'string') : []);
  } catch {
    return new Set();
  }
}
