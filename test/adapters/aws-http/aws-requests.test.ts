import { afterEach, describe, expect, it } from 'vitest';
import { awsJsonService } from '../../../lib/adapters/aws-http/json-service.ts';
import { signedHeaders } from '../../../lib/adapters/aws-http/signature.ts';
import { signingKeys } from '../../../lib/adapters/aws-http/signing-keys.ts';
import { httpClient } from '../../../lib/adapters/http-client/http-client.ts';
import type { AwsJsonService } from '../../../lib/ports/aws-service.ts';
import {
  type ReceivedRequest,
  type Script,
  type ScriptedAnswer,
  type ScriptedServer,
  startScriptedServer,
} from '../../support/scripted-server.ts';

const NOW = Date.UTC(2026, 10, 19, 12);
const REGION = 'eu-central-1';

interface Stage {
  readonly server: ScriptedServer;
  readonly service: AwsJsonService;
  readonly env: Record<string, string>;
  /** The pauses between attempts, in milliseconds. */
  readonly pauses: number[];
}

const closing: (() => void | Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

async function stageWith(
  script: Script,
  variables: Record<string, string> = {},
  now = () => NOW,
): Promise<Stage> {
  const server = await startScriptedServer(script);
  const env: Record<string, string> = {
    AWS_ACCESS_KEY_ID: 'AKIDEXAMPLE',
    AWS_SECRET_ACCESS_KEY: 'secret',
    ...variables,
  };
  const pauses: number[] = [];
  const clock = {
    now,
    sleep: async (milliseconds: number) => {
      pauses.push(milliseconds);
    },
  };
  const endpoint = server.url.href;
  const access = { region: REGION, endpoint, env, http: httpClient(), clock, random: () => 0.5 };
  const service = awsJsonService('sqs', access);
  closing.push(server.close, service.close);
  return { server, service, env, pauses };
}

const DONE: ScriptedAnswer = { body: '{"Successful":[]}' };
const refusal = (code: string, status = 400, headers: Record<string, string> = {}): ScriptedAnswer => ({
  status,
  headers,
  body: JSON.stringify({ __type: `com.amazonaws.sqs#${code}`, message: `because of ${code}` }),
});
const call = ({ service }: Stage, more = {}) => service.call('SendMessageBatch', { QueueUrl: 'q' }, more);

/** Answers in this order. */
const inOrder = (...answers: readonly (ReturnType<Script> | Script)[]): Script => {
  let index = 0;
  return (...received) => {
    const answer = answers[index++] ?? 'hang';
    return typeof answer === 'function' ? answer(...received) : answer;
  };
};

/** Whether a request has the signature that these credentials produce. */
function isSignedWith(secretAccessKey: string, { method, path, headers, body }: ReceivedRequest): boolean {
  const names = /SignedHeaders=([^,]+)/.exec(String(headers.authorization))?.[1]?.split(';') ?? [];
  const time = String(headers['x-amz-date']).replace(/^(....)(..)(..T..)(..)(..Z)$/, '$1-$2-$3:$4:$5');
  const token = headers['x-amz-security-token'];
  const signed = signedHeaders(
    { method, path, headers: Object.fromEntries(names.map((name) => [name, String(headers[name])])), body },
    {
      accessKeyId: 'AKIDEXAMPLE',
      secretAccessKey,
      ...(token !== undefined && { sessionToken: String(token) }),
    },
    { region: REGION, service: 'sqs' },
    Date.parse(time),
    signingKeys(),
  );
  return signed['authorization'] === headers.authorization;
}

describe('a request', () => {
  it('is a signed POST of the JSON protocol', async () => {
    const stage = await stageWith(() => DONE);
    expect(await call(stage)).toEqual({ Successful: [] });
    const [request] = stage.server.requests;
    expect(request).toMatchObject({
      method: 'POST',
      path: '/',
      headers: {
        host: stage.server.url.host,
        'content-type': 'application/x-amz-json-1.0',
        'x-amz-target': 'AmazonSQS.SendMessageBatch',
        'x-amz-date': '20261119T120000Z',
        'user-agent': 'asya-serverless',
      },
      body: '{"QueueUrl":"q"}',
    });
    expect(isSignedWith('secret', request as ReceivedRequest)).toBe(true);
    expect(isSignedWith('another', request as ReceivedRequest)).toBe(false);
  });

  it('is signed with the credentials of the environment at this time', async () => {
    const stage = await stageWith(() => DONE);
    await call(stage);
    Object.assign(stage.env, { AWS_SECRET_ACCESS_KEY: 'rotated', AWS_SESSION_TOKEN: 'token' });
    await call(stage);
    const [before, after] = stage.server.requests as [ReceivedRequest, ReceivedRequest];
    expect(before.headers['x-amz-security-token']).toBeUndefined();
    expect(isSignedWith('secret', before)).toBe(true);
    expect(after.headers['x-amz-security-token']).toBe('token');
    expect(isSignedWith('rotated', after)).toBe(true);
  });

  it('needs credentials, except for an engine on this machine', async () => {
    const stage = await stageWith(() => DONE);
    delete stage.env['AWS_SECRET_ACCESS_KEY'];
    await expect(call(stage)).rejects.toThrow(
      'asya: AWS_SECRET_ACCESS_KEY is not set; Lambda sets the credentials',
    );
    expect(stage.server.requests).toEqual([]);
    const local = await stageWith(() => DONE, { AWS_ACCESS_KEY_ID: '', AWS_SECRET_ACCESS_KEY: '' });
    await call(local);
    expect(local.server.requests[0]?.headers.authorization).toContain('Credential=local/');
  });

  it('continues the trace of the invocation', async () => {
    const stage = await stageWith(() => DONE, { _X_AMZN_TRACE_ID: 'Root=1-5759e988' });
    await call(stage);
    stage.env['AWS_LAMBDA_FUNCTION_NAME'] = 'function';
    await call(stage);
    expect(stage.server.requests.map(({ headers }) => headers['x-amzn-trace-id'])).toEqual([
      undefined,
      'Root=1-5759e988',
    ]);
  });
});

describe('an answer', () => {
  it.each([
    ['', {}],
    ['null', {}],
    ['{"Successful":null,"Failed":[]}', { Failed: [] }],
  ])('has no members that are null, like that of the AWS SDK: %s', async (body, output) => {
    expect(await call(await stageWith(() => ({ body })))).toEqual(output);
  });
});

describe('a failed request', () => {
  it.each([
    ['throttling', refusal('RequestThrottled'), [500, 1_000]],
    ['throttling by status', refusal('Whatever', 429), [500, 1_000]],
    ['an error of the service', refusal('InternalFailure', 500), [25, 50]],
    ['an error of something in between', { status: 503, body: '<html>' }, [25, 50]],
    ['a lost connection', 'drop' as const, [25, 50]],
  ])('is repeated after a pause with jitter: %s', async (_what, failure, pauses) => {
    const stage = await stageWith(inOrder(failure, failure, DONE));
    expect(await call(stage)).toEqual({ Successful: [] });
    expect(stage.server.requests).toHaveLength(3);
    expect(stage.pauses).toEqual(pauses);
  });

  it('is repeated over another connection if there is no answer', async () => {
    const stage = await stageWith(inOrder('hang', DONE));
    await call(stage, { timeoutMs: 2_000 });
    expect(stage.server.requests.map(({ connection }) => connection)).toEqual([1, 2]);
  });

  it('is signed again each time, with the time and the credentials of then', async () => {
    const times = [Date.UTC(2026, 10, 19, 23, 59, 59), Date.UTC(2026, 10, 20)];
    const stage = await stageWith(
      inOrder(() => {
        Object.assign(stage.env, { AWS_SECRET_ACCESS_KEY: 'rotated', AWS_SESSION_TOKEN: 'token' });
        return refusal('InternalFailure', 500);
      }, DONE),
      {},
      () => times.shift() ?? 0,
    );
    await call(stage);
    const [before, after] = stage.server.requests as [ReceivedRequest, ReceivedRequest];
    expect(before.headers['x-amz-date']).toBe('20261119T235959Z');
    expect(isSignedWith('secret', before)).toBe(true);
    expect(after.headers['x-amz-date']).toBe('20261120T000000Z');
    expect(isSignedWith('rotated', after)).toBe(true);
  });

  it('is sent three times at most', async () => {
    const failure = refusal('RequestThrottled');
    const stage = await stageWith(() => failure);
    await expect(call(stage)).rejects.toMatchObject({
      name: 'RequestThrottled',
      message: 'because of RequestThrottled',
      status: 400,
    });
    expect(stage.server.requests).toHaveLength(3);
  });

  it('is sent as often as AWS_MAX_ATTEMPTS says', async () => {
    const stage = await stageWith(() => refusal('RequestThrottled'), { AWS_MAX_ATTEMPTS: '5' });
    await expect(call(stage)).rejects.toThrow();
    expect(stage.pauses).toEqual([500, 1_000, 2_000, 4_000]);
    await expect(stageWith(() => DONE, { AWS_MAX_ATTEMPTS: 'many' })).rejects.toThrow(
      'AWS_MAX_ATTEMPTS is "many"; expected a whole number from 1 to 9999',
    );
  });

  it.each(['QueueDoesNotExist', 'AccessDenied', 'InvalidSignatureException', 'ExpiredTokenException'])(
    'is not repeated if it would fail again: %s',
    async (code) => {
      const stage = await stageWith(() => refusal(code, 400, { date: new Date(NOW).toUTCString() }));
      await expect(call(stage)).rejects.toMatchObject({ name: code });
      expect(stage.server.requests).toHaveLength(1);
    },
  );

  it('is not repeated after an abort', async () => {
    const stop = new AbortController();
    const stage = await stageWith(() => {
      stop.abort();
      return refusal('RequestThrottled');
    });
    await expect(call(stage, { signal: stop.signal })).rejects.toThrow();
    expect(stage.server.requests).toHaveLength(1);
  });

  it('is not described with the request, which has the session token in it', async () => {
    const message = "The signature does not match.\n\nThe request was\n'POST\nx-amz-security-token:s3cret'";
    const stage = await stageWith(() => ({ status: 403, body: JSON.stringify({ __type: 'A', message }) }));
    await expect(call(stage)).rejects.toMatchObject({ message: 'The signature does not match.' });
  });

  it.each([
    ['__type', { body: '{"__type":"com.amazonaws.sqs#NoSuch","message":"text"}' }, 'NoSuch', 'text'],
    [
      '__type with an address',
      { body: '{"__type":"NoSuch:http://a/#b","Message":"text"}' },
      'NoSuch',
      'text',
    ],
    ['code', { body: '{"code":"NoSuch"}' }, 'NoSuch', ''],
    ['Code', { body: '{"Code":"NoSuch","Message":"text"}' }, 'NoSuch', 'text'],
    ['the older header', { headers: { 'x-amzn-query-error': 'No.Such;Sender' }, body: '{}' }, 'No.Such', ''],
    ['a header with an address', { headers: { 'x-amzn-errortype': 'NoSuch,a#b' }, body: '{}' }, 'NoSuch', ''],
    ['the header', { headers: { 'x-amzn-errortype': 'NoSuch' }, body: '{"__type":"b"}' }, 'NoSuch', ''],
    ['nothing', { body: '<html>' }, 'UnknownError', 'the service answered with status 403'],
    ['a text', { body: '"text"' }, 'UnknownError', 'the service answered with status 403'],
  ])('has its code from %s', async (_what, answer, name, message) => {
    const stage = await stageWith(() => ({ status: 403, ...answer }));
    await expect(call(stage)).rejects.toMatchObject({ name, message, status: 403 });
  });
});

describe('a clock that is wrong', () => {
  const HOUR = 3_600_000;

  /** A service whose clock is an hour ahead, and which refuses signatures of another time. */
  const anHourAhead =
    (code: string): Script =>
    ({ headers }) =>
      String(headers['x-amz-date']).startsWith('20261119T13')
        ? DONE
        : refusal(code, 403, { date: new Date(NOW + HOUR).toUTCString() });

  it.each(['RequestTimeTooSkewed', 'InvalidSignatureException', 'SignatureDoesNotMatch', 'RequestExpired'])(
    'is corrected after %s, at once, and from then on',
    async (code) => {
      const stage = await stageWith(anHourAhead(code));
      await call(stage);
      await call(stage);
      expect(stage.server.requests.map(({ headers }) => headers['x-amz-date'])).toEqual([
        '20261119T120000Z',
        '20261119T130000Z',
        '20261119T130000Z',
      ]);
      expect(stage.pauses).toEqual([]);
    },
  );

  it('is corrected for requests that are refused at the same time', async () => {
    const { resolve: allHaveArrived, promise } = Promise.withResolvers<void>();
    const answer = anHourAhead('InvalidSignatureException');
    const stage = await stageWith((request, response) => {
      const given = answer(request, response) as ScriptedAnswer;
      if (stage.server.requests.length === 3) allHaveArrived();
      promise.then(() => response.writeHead(given.status ?? 200, given.headers).end(given.body));
      return 'done';
    });
    await Promise.all([call(stage), call(stage), call(stage)]);
    expect(stage.server.requests).toHaveLength(6);
    expect(stage.pauses).toEqual([]);
  });

  it('may also be right, and the signature old, because the function was frozen before it was sent', async () => {
    let nowMs = NOW;
    const stage = await stageWith(
      inOrder(refusal('InvalidSignatureException', 403, { date: new Date(NOW + HOUR).toUTCString() }), DONE),
      {},
      () => {
        const signedAtMs = nowMs;
        nowMs = NOW + HOUR;
        return signedAtMs;
      },
    );
    await call(stage);
    expect(stage.server.requests.map(({ headers }) => headers['x-amz-date'])).toEqual([
      '20261119T120000Z',
      '20261119T130000Z',
    ]);
  });

  it('is not corrected by a refusal with another reason, which a frozen function reads much later', async () => {
    let nowMs = NOW;
    const stage = await stageWith(
      () => {
        nowMs = NOW + HOUR;
        return refusal('AccessDeniedException', 403, { date: new Date(NOW).toUTCString() });
      },
      {},
      () => nowMs,
    );
    await expect(call(stage)).rejects.toMatchObject({ name: 'AccessDeniedException' });
    expect(stage.server.requests).toHaveLength(1);
  });

  it('is not corrected by other answers, which a frozen function may read much later', async () => {
    const late = { date: new Date(NOW - HOUR).toUTCString() };
    const stage = await stageWith(
      inOrder({ ...DONE, headers: late }, refusal('InternalFailure', 500, late), DONE),
    );
    await call(stage);
    await call(stage);
    expect(new Set(stage.server.requests.map(({ headers }) => headers['x-amz-date'])).size).toBe(1);
  });

  it('is not corrected for ever', async () => {
    let ahead = 0;
    const stage = await stageWith(() =>
      refusal('RequestTimeTooSkewed', 403, { date: new Date(NOW + HOUR * ++ahead).toUTCString() }),
    );
    await expect(call(stage)).rejects.toMatchObject({ name: 'RequestTimeTooSkewed' });
    expect(stage.server.requests).toHaveLength(3);
  });
});
