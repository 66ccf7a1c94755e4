import { createHash, createHmac } from 'node:crypto';
import type { AwsCredentials } from '../../ports/aws-service.ts';
import { canonicalRequest, type SignableRequest } from './canonical-request.ts';
import type { SigningKeys } from './signing-keys.ts';

export interface SigningScope {
  readonly region: string;
  /** The service's name in signatures, such as `sqs`. */
  readonly service: string;
}

const ALGORITHM = 'AWS4-HMAC-SHA256';
const EMPTY_BODY = createHash('sha256').digest('hex');

/** Headers that the signature adds, or replaces. */
const ADDED = /^(authorization|x-amz-date|date)$/i;

/**
 * The headers of a request with its signature (AWS Signature Version 4), as the AWS SDK computes it.
 * @param nowMs Milliseconds since 1970-01-01T00:00:00Z. The service refuses a signature that is more than minutes away.
 */
export function signedHeaders(
  request: SignableRequest,
  credentials: AwsCredentials,
  { region, service }: SigningScope,
  nowMs: number,
  keys: SigningKeys,
): Record<string, string> {
  const time = `${new Date(nowMs).toISOString().replace(/[-:]|\.\d{3}/g, '')}`;
  const date = time.slice(0, 8);
  const headers: Record<string, string> = {};
  for (const name of Object.keys(request.headers))
    if (!ADDED.test(name)) headers[name] = request.headers[name] ?? '';
  headers['x-amz-date'] = time;
  if (credentials.sessionToken) headers['x-amz-security-token'] = credentials.sessionToken;
  const canonical = canonicalRequest({ ...request, headers }, bodyHash(request));
  const scope = `${date}/${region}/${service}/aws4_request`;
  const signed = `${ALGORITHM}\n${time}\n${scope}\n${createHash('sha256').update(canonical.text).digest('hex')}`;
  const key = keys(credentials.secretAccessKey, date, region, service);
  const signature = createHmac('sha256', key).update(signed).digest('hex');
  headers['authorization'] =
    `${ALGORITHM} Credential=${credentials.accessKeyId}/${scope}, SignedHeaders=${canonical.signedHeaders}, Signature=${signature}`;
  return headers;
}

/** The hash in a header counts, if there is one: some services allow bodies that are not signed. */
function bodyHash({ headers, body }: SignableRequest): string {
  const given = Object.keys(headers).find((name) => name.toLowerCase() === 'x-amz-content-sha256');
  if (given !== undefined) return headers[given] ?? '';
  return body === undefined || body.length === 0
    ? EMPTY_BODY
    : createHash('sha256').update(body).digest('hex');
}
