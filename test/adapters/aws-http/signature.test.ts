import { createHash, createHmac } from 'node:crypto';
import { SignatureV4 } from '@smithy/signature-v4';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { SignableRequest } from '../../../lib/adapters/aws-http/canonical-request.ts';
import { signedHeaders } from '../../../lib/adapters/aws-http/signature.ts';
import { signingKeys } from '../../../lib/adapters/aws-http/signing-keys.ts';
import type { AwsCredentials } from '../../../lib/ports/aws-service.ts';

const RUNS = Number(process.env['LAW_RUNS'] ?? 500);

/** The hash that the SDK's signer expects. */
class Sha256 {
  private readonly hash;
  constructor(secret?: Uint8Array | string) {
    this.hash = secret === undefined ? createHash('sha256') : createHmac('sha256', secret);
  }
  update(data: Uint8Array): void {
    this.hash.update(data);
  }
  digest(): Promise<Uint8Array> {
    return Promise.resolve(this.hash.digest());
  }
  reset(): void {}
}

interface Signing {
  readonly request: SignableRequest;
  readonly credentials: AwsCredentials;
  readonly region: string;
  readonly service: string;
  readonly nowMs: number;
}

async function bySdk({
  request,
  credentials,
  region,
  service,
  nowMs,
}: Signing): Promise<Record<string, string>> {
  const signer = new SignatureV4({
    credentials,
    region,
    service,
    sha256: Sha256 as never,
    applyChecksum: false,
  });
  const { query = {}, ...rest } = request;
  const signed = await signer.sign(
    {
      ...rest,
      protocol: 'https:',
      hostname: 'host.example',
      query: query as never,
      headers: { ...rest.headers },
    },
    { signingDate: new Date(nowMs) },
  );
  return signed.headers;
}

const keys = signingKeys();

function byUs({ request, credentials, region, service, nowMs }: Signing): Record<string, string> {
  return signedHeaders(request, credentials, { region, service }, nowMs, keys);
}

/** Well-formed text with everything that is escaped or collapsed somewhere. */
const odd = fc.string({
  unit: fc.constantFrom(
    ...'aZ09 \t%/.~-_!\'()*+=&?#@:;,$"<>[]{}|\\^`',
    'ä',
    '€',
    '😀',
    '\n',
    '\r',
    '..',
    '//',
    '\u0000',
    '\ufeff',
  ),
  maxLength: 12,
});

const headerName = fc.oneof(
  fc.constantFrom(
    'host',
    'Host',
    'Content-Type',
    'x-amz-target',
    'X-Amz-Date',
    'date',
    'Authorization',
    'user-agent',
    'X-Amzn-Trace-Id',
    'connection',
    'proxy-x',
    'Sec-Fetch-Mode',
    'x-amz-security-token',
    '__proto__',
  ),
  fc.stringMatching(/^[A-Za-z][A-Za-z0-9_-]{0,8}$/),
);

// The SDK's signer confuses these with properties of objects.
const queryName = odd.filter((name) => !(name in {}));

const request: fc.Arbitrary<SignableRequest> = fc.record(
  {
    method: fc.constantFrom('POST', 'GET', 'PUT', 'DELETE', 'HEAD'),
    path: odd.map((text) => `/${text}`),
    query: fc.dictionary(queryName, fc.oneof(odd, fc.array(odd, { maxLength: 3 })), { maxKeys: 4 }),
    headers: fc
      .array(fc.tuple(headerName, odd), { maxLength: 6 })
      .map((entries) => Object.fromEntries(entries.filter(([name]) => name !== '__proto__'))),
    body: fc.oneof(odd, fc.uint8Array({ maxLength: 40 })),
  },
  { requiredKeys: ['method', 'path', 'headers'] },
);

const credentials: fc.Arbitrary<AwsCredentials> = fc.record(
  {
    accessKeyId: fc.stringMatching(/^[A-Z0-9]{16,20}$/),
    secretAccessKey: odd.filter((text) => text !== ''),
    sessionToken: fc.oneof(fc.base64String(), fc.constant('')),
  },
  { requiredKeys: ['accessKeyId', 'secretAccessKey'] },
);

const signing: fc.Arbitrary<Signing> = fc.record({
  request,
  credentials,
  region: fc.constantFrom('us-east-1', 'eu-central-1', 'cn-north-1', 'us-gov-west-1'),
  service: fc.constantFrom('sqs', 'sts', 'secretsmanager', 'ssm'),
  nowMs: fc.integer({ min: 0, max: 4_102_444_800_000 }),
});

describe('a signature', () => {
  it('equals that of the AWS SDK, for any request', async () => {
    await fc.assert(
      fc.asyncProperty(signing, async (given) => {
        expect(byUs(given)).toEqual(await bySdk(given));
      }),
      { numRuns: RUNS },
    );
  });

  it('uses the hash in a header instead of that of the body, like the AWS SDK', async () => {
    await fc.assert(
      fc.asyncProperty(signing, fc.stringMatching(/^[0-9a-f]{8}$/), async (given, hash) => {
        const headers = { ...given.request.headers, 'X-Amz-Content-Sha256': hash };
        const hashed = { ...given, request: { ...given.request, headers } };
        expect(byUs(hashed)).toEqual(await bySdk(hashed));
      }),
      { numRuns: Math.min(RUNS, 100) },
    );
  });

  it('of a request as the SQS client sends it', async () => {
    const given: Signing = {
      request: {
        method: 'POST',
        path: '/',
        headers: {
          host: 'sqs.eu-central-1.amazonaws.com',
          'content-type': 'application/x-amz-json-1.0',
          'x-amz-target': 'AmazonSQS.SendMessageBatch',
        },
        body: '{"QueueUrl":"https://sqs.eu-central-1.amazonaws.com/111122223333/score","Entries":[]}',
      },
      credentials: { accessKeyId: 'AKIDEXAMPLE', secretAccessKey: 'secret', sessionToken: 'token' },
      region: 'eu-central-1',
      service: 'sqs',
      nowMs: Date.UTC(2026, 10, 19),
    };
    expect(byUs(given)).toEqual(await bySdk(given));
    expect(byUs(given)['authorization']).toMatch(
      /^AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE\/20261119\/eu-central-1\/sqs\/aws4_request, SignedHeaders=content-type;host;x-amz-date;x-amz-security-token;x-amz-target, Signature=[0-9a-f]{64}$/,
    );
  });
});

describe('the key of a signature', () => {
  it('is derived once per day, region, service and secret', () => {
    const derive = signingKeys();
    const first = derive('secret', '20261119', 'eu-central-1', 'sqs');
    expect(derive('secret', '20261119', 'eu-central-1', 'sqs')).toBe(first);
    const others = [
      derive('rotated', '20261119', 'eu-central-1', 'sqs'),
      derive('secret', '20261120', 'eu-central-1', 'sqs'),
      derive('secret', '20261119', 'eu-west-1', 'sqs'),
      derive('secret', '20261119', 'eu-central-1', 'ssm'),
    ];
    for (const other of others) expect(other).not.toEqual(first);
  });
});
