import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { awsJsonService } from '../../../lib/adapters/aws-http/json-service.ts';
import { httpClient } from '../../../lib/adapters/http-client/http-client.ts';
import { slimSqsTransport } from '../../../lib/adapters/sqs/slim-sqs-transport.ts';
import { sqsClient } from '../../../lib/adapters/sqs/sqs-client.ts';
import { sqsTransport } from '../../../lib/adapters/sqs/sqs-transport.ts';
import { systemClock } from '../../../lib/adapters/system/system.ts';
import type { Reply } from '../../../lib/ports/reply.ts';
import type { Transport } from '../../../lib/ports/transport.ts';
import { type ByteServer, startByteServer } from '../../support/byte-server.ts';

/** The slim client and the AWS SDK, with the same answers of a server that sends any bytes. */

const RUNS = Number(process.env['LAW_RUNS'] ?? 60);
const ENV = {
  AWS_ACCESS_KEY_ID: 'AKIDEXAMPLE',
  AWS_SECRET_ACCESS_KEY: 'secret',
  AWS_SESSION_TOKEN: 's3cret',
};
const COMMON = { visibilitySeconds: 30, waitSeconds: 1, requestTimeoutMs: 3_000 };
const BODIES = ['"0"', '"ä€ 😀"', '"2"', '"3"'];

interface Entry {
  readonly Id: string;
  readonly MessageBody?: string;
}

/** What the server does with a request, after it was received completely. */
type Answer = (entries: readonly Entry[]) => Step;
type Step = {
  readonly bytes: Buffer;
  /** What becomes of the connection after the bytes. */
  readonly after: 'keep' | 'end' | 'reset';
};

beforeEach(() => {
  // No pauses between the attempts of the AWS SDK.
  vi.spyOn(Math, 'random').mockReturnValue(0);
  for (const [name, value] of Object.entries(ENV)) vi.stubEnv(name, value);
});
afterEach(() => {
  vi.restoreAllMocks();
  vi.unstubAllEnvs();
});

function slim(endpoint: string): Transport {
  const [clock, random] = [{ ...systemClock, sleep: async () => {} }, () => 0];
  const access = { endpoint, region: 'us-east-1', env: ENV, http: httpClient(), clock, random };
  const service = awsJsonService('sqs', access);
  return slimSqsTransport({ service, clock, random, account: '000000000000', ...COMMON });
}

function sdk(endpoint: string): Transport {
  const client = sqsClient({ endpoint, region: 'us-east-1' }, ENV);
  return sqsTransport({ client, urlOf: (queue) => `${endpoint}/000000000000/${queue}`, ...COMMON });
}

interface Outcome {
  readonly replies: readonly Reply[];
  readonly requests: number;
}

/** What becomes of the sends, if the server answers the first requests like this and accepts the others. */
async function outcomeWith(
  make: (endpoint: string) => Transport,
  answers: readonly Answer[],
  last = accepted,
): Promise<Outcome> {
  let requests = 0;
  const server = await startRequestServer((entries) => (answers[requests++] ?? last)(entries));
  const transport = make(`http://127.0.0.1:${server.port}`);
  try {
    const replies = await Promise.all(BODIES.map((body) => transport.send('queue', body)));
    return { replies, requests };
  } finally {
    await transport.close();
    await server.close();
  }
}

function startRequestServer(answer: Answer): Promise<ByteServer> {
  return startByteServer('tcp', (socket) => {
    let received = Buffer.alloc(0);
    socket.on('data', (chunk) => {
      received = Buffer.concat([received, chunk]);
      const head = received.indexOf('\r\n\r\n');
      const [, length] = /content-length: (\d+)/i.exec(received.toString('latin1')) ?? [];
      if (head < 0 || received.length < head + 4 + Number(length)) return;
      const { Entries } = JSON.parse(received.subarray(head + 4).toString()) as { Entries: readonly Entry[] };
      received = Buffer.alloc(0);
      const { bytes, after } = answer(Entries);
      socket.write(bytes, () => {
        if (after === 'end') socket.end();
        if (after === 'reset') socket.resetAndDestroy();
      });
    });
  });
}

const md5 = (text = '') => createHash('md5').update(text).digest('hex');
const success = ({ Id, MessageBody }: Entry) => ({ Id, MessageId: Id, MD5OfMessageBody: md5(MessageBody) });

function http(status: number, body: string, headers: Readonly<Record<string, string>> = {}): Buffer {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  const length = Buffer.byteLength(body);
  return Buffer.from(`HTTP/1.1 ${status} Any\r\n${lines.join('')}content-length: ${length}\r\n\r\n${body}`);
}

const output = (content: unknown): Step => ({ bytes: http(200, JSON.stringify(content)), after: 'keep' });
const accepted: Answer = (entries) => output({ Successful: entries.map(success), Failed: [] });

/** Accepted or not, and why if the reason matters to the host. */
const decisions = (replies: readonly Reply[]) =>
  replies.map((reply) => (reply.ok ? 'accepted' : reply.isQueueMissing === true ? 'no queue' : 'refused'));

const CODES = [
  'AccessDenied',
  'AWS.SimpleQueueService.NonExistentQueue',
  'ExpiredTokenException',
  'InternalFailure',
  'InvalidSignatureException',
  'KmsThrottled',
  'QueueDoesNotExist',
  'RequestThrottled',
  'RequestTimeout',
  'ServiceUnavailable',
  'SlowDown',
  'TooManyEntriesInBatchRequest',
];
const STATUSES = [301, 304, 400, 403, 404, 413, 429, 500, 502, 503, 504];

/** A refusal of the whole request, in any form. */
const refusal = fc
  .record({
    status: fc.constantFrom(...STATUSES),
    code: fc.constantFrom(...CODES),
    // The date of another answer: it does not have to be parsable.
    date: fc.constantFrom(new Date().toUTCString(), 'yesterday'),
    form: fc.constantFrom(
      'type',
      'namespace',
      'address',
      'code',
      'Code',
      'header',
      'query',
      'html',
      'null',
      '',
    ),
  })
  .map(({ status, code, date, form }): Answer => {
    const message = "because\n\nx-amz-security-token:s3cret'";
    const [content, headers = {}] = {
      type: [{ __type: code, message }],
      namespace: [{ __type: `com.amazonaws.sqs#${code}`, Message: message }],
      address: [{ __type: `${code}:http://internal/coral`, message }],
      code: [{ code, message }],
      Code: [{ Code: code, message }],
      header: [{ message }, { 'x-amzn-errortype': `${code},x` }],
      query: [{ message }, { 'x-amzn-query-error': `${code};Sender` }],
      html: ['<html>'],
      null: [null],
      '': [''],
    }[form] as [unknown, Record<string, string>?];
    const body = status === 304 || form === '' ? '' : form === 'html' ? '<html>' : JSON.stringify(content);
    // On a kept connection the slim client would repeat a lost request once more than the AWS SDK.
    const head = { date, connection: 'close', ...headers };
    return () => ({ bytes: http(status, body, head), after: 'end' });
  });

/** An answer that is cut off, or that is something else. */
const broken = fc.oneof(
  fc.constantFrom('end' as const, 'reset' as const).map(
    (after): Answer =>
      () => ({ bytes: Buffer.of(), after }),
  ),
  fc.nat({ max: 999 }).map(
    (share): Answer =>
      (entries) => {
        const { bytes } = accepted(entries);
        return { bytes: bytes.subarray(0, Math.floor((bytes.length * share) / 1_000)), after: 'end' };
      },
  ),
  fc
    .constantFrom(
      '<html>',
      '"text"',
      '[]',
      'null',
      '',
      '{"Successful":null,"Failed":null}',
      '{"__type":"SlowDown"}',
    )
    .map(
      (body): Answer =>
        () => ({ bytes: http(200, body), after: 'keep' }),
    ),
  fc
    .constantFrom('garbage\r\n\r\n', 'HTTP/1.1 200 OK\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\nab')
    .map(
      (text): Answer =>
        () => ({ bytes: Buffer.from(text), after: 'keep' }),
    ),
);

/** Complete answers that arrive in another shape. */
const reshaped = fc.constantFrom('100 Continue', '103 Early Hints', 'until the end', 'chunked').map(
  (how): Answer =>
    (entries) => {
      const { bytes } = accepted(entries);
      const body = bytes.subarray(bytes.indexOf('\r\n\r\n') + 4);
      const chunks = [...body].map((byte) =>
        Buffer.concat([Buffer.from('1\r\n'), Buffer.of(byte), Buffer.from('\r\n')]),
      );
      const parts = {
        '100 Continue': ['HTTP/1.1 100 Continue\r\n\r\n', bytes],
        '103 Early Hints': ['HTTP/1.1 103 Early Hints\r\nlink: x\r\n\r\n', bytes],
        'until the end': ['HTTP/1.1 200 OK\r\n\r\n', body],
        chunked: ['HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n', ...chunks, '0\r\n\r\n'],
      }[how];
      return {
        bytes: Buffer.concat(parts.map((part) => Buffer.from(part))),
        after: how === 'until the end' ? 'end' : 'keep',
      };
    },
);

describe('the slim client and the AWS SDK', () => {
  it('decide the same after any answers, with as many requests', async () => {
    const answers = fc.array(fc.oneof(refusal, broken, reshaped), { minLength: 1, maxLength: 4 });
    await fc.assert(
      fc.asyncProperty(answers, async (given) => {
        const [ours, theirs] = await Promise.all([outcomeWith(slim, given), outcomeWith(sdk, given)]);
        expect([decisions(ours.replies), ours.requests]).toEqual([
          decisions(theirs.replies),
          theirs.requests,
        ]);
        expect(JSON.stringify([ours.replies, theirs.replies])).not.toContain('s3cret');
      }),
      { numRuns: RUNS },
    );
  });

  it('accept an entry only if it was stored as it is, whatever the answer says about the others', async () => {
    const fate = fc.constantFrom('stored', 'sender', 'service', 'missing', 'both', 'digest', 'twice');
    await fc.assert(
      fc.asyncProperty(
        fc.array(fate, { minLength: 4, maxLength: 4 }),
        fc.boolean(),
        async (fates, hasUnknown) => {
          const fateOf = ({ MessageBody = '' }: Entry) => fates[BODIES.indexOf(MessageBody)];
          const answer: Answer = (entries) => {
            const having = (...some: readonly string[]) =>
              entries.filter((entry) => some.includes(fateOf(entry) ?? ''));
            return output({
              Successful: [
                ...having('stored', 'both', 'twice').map(success),
                ...having('twice').map(success),
                ...having('digest').map(({ Id }) => ({ Id, MD5OfMessageBody: md5('another') })),
                ...(hasUnknown ? [{ Id: 'unknown', MD5OfMessageBody: md5('') }] : []),
              ],
              Failed: having('sender', 'service', 'both').map((entry) => ({
                Id: entry.Id,
                Code: 'Any',
                SenderFault: fateOf(entry) === 'sender',
              })),
            });
          };
          const expected = fates.map((one) => (/stored|twice/.test(one) ? 'accepted' : 'refused'));
          expect(decisions((await outcomeWith(slim, [], answer)).replies)).toEqual(expected);
          // The AWS SDK refuses every entry if the digest of one is wrong.
          const bySdk = fates.includes('digest') ? expected.map(() => 'refused') : expected;
          expect(decisions((await outcomeWith(sdk, [], answer)).replies)).toEqual(bySdk);
        },
      ),
      { numRuns: RUNS },
    );
  });
});
