import type { IncomingMessage, RequestListener, Server, ServerResponse } from 'node:http';

/** The access key that handlers get for the embedded engines. The mesh's own processes use another one. */
export const HANDLER_CREDENTIALS = {
  accessKeyId: 'asya-handler',
  secretAccessKey: 'local',
} as const;

/** `KEY/DATE/REGION/SERVICE/aws4_request`, in the header or in a presigned URL. */
const SCOPE = /Credential=([^/,\s&]+)\/[^/]*\/[^/]*\/([^/]*)\/aws4_request/;

/**
 * Allows requests with the handlers' access key only for S3, and not for this bucket. The engines do not check
 * signatures, so this prevents mistakes, not attacks: a handler could use the mesh's access key. Call it after all
 * `request` listeners were added.
 */
export function guardFromHandlers(server: Server, ownBucket: string): void {
  const listeners = server.listeners('request') as RequestListener[];
  server.removeAllListeners('request');
  server.on('request', (request, response) => {
    const refusal = refusalOf(request, ownBucket);
    if (refusal === undefined) for (const listener of listeners) listener.call(server, request, response);
    else refuse(request, response, refusal);
  });
}

function refusalOf({ url = '', headers }: IncomingMessage, ownBucket: string): string | undefined {
  const [path = '', query = ''] = url.split('?');
  const text = headers.authorization ?? decoded(query);
  const [, key, service] = SCOPE.exec(text) ?? [];
  if (key !== HANDLER_CREDENTIALS.accessKeyId) return undefined;
  if (service !== 's3')
    return `handlers can use only S3 of the embedded engines, not ${service}; set spec.local.aws to "profile" to use an account`;
  const copySource = String(headers['x-amz-copy-source'] ?? '').split('?')[0] ?? '';
  const buckets = [path, copySource].map((one) => decoded(one).replace(/^\/+/, '').split('/')[0]);
  return buckets.includes(ownBucket)
    ? `the bucket "${ownBucket}" belongs to the mesh; handlers cannot use it`
    : undefined;
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** Answers in the protocol of the request, so that the SDK reports the message. */
function refuse({ headers }: IncomingMessage, response: ServerResponse, message: string): void {
  const isJson = headers['content-type']?.startsWith('application/x-amz-json') ?? false;
  const code = 'AccessDenied';
  const body = isJson
    ? JSON.stringify({ __type: code, message })
    : `<?xml version="1.0"?><ErrorResponse><Error><Code>${code}</Code><Message>${message.replaceAll('"', '&quot;')}</Message></Error></ErrorResponse>`;
  response.writeHead(403, {
    'content-type': isJson ? 'application/x-amz-json-1.0' : 'application/xml',
    // The body of the request is not read.
    connection: 'close',
  });
  response.end(body);
}
