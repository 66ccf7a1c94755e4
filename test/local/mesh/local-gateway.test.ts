import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { serveGateway } from '../../../lib/assembly/hosts/serve-gateway.ts';
import {
  type LocalGateway,
  type LocalGatewayOptions,
  startLocalGateway,
} from '../../../lib/local/mesh/local-gateway.ts';
import { serveGateway as serveFace } from '../../gateway/served-fixture.ts';
import { type RawRequest, rawAnswer } from '../../support/raw-request.ts';
import { FOREIGN_EVERYWHERE } from '../foreign-requests.ts';
import { startTestEngines, type TestEngines } from '../test-engines.ts';

let local: TestEngines;
let gateway: LocalGateway;
let host: string;
let port: number;
let options: LocalGatewayOptions;

async function started(changes: Partial<LocalGatewayOptions>): Promise<LocalGateway> {
  const start = await startLocalGateway({ ...options, ...changes });
  if ('problem' in start) throw new Error(start.problem);
  return start.gateway;
}

beforeAll(async () => {
  local = await startTestEngines();
  const { sqsEndpoint, s3Endpoint, dynamodbEndpoint } = local.engines;
  options = {
    variables: {
      ASYA_TRANSPORT: 'sqs',
      ASYA_SQS_ENDPOINT: sqsEndpoint,
      ASYA_S3_ENDPOINT: s3Endpoint,
      ASYA_DYNAMODB_ENDPOINT: dynamodbEndpoint,
      ASYA_AWS_REGION: 'us-east-1',
      ASYA_ARCHIVE_BUCKET: 'archive',
      ASYA_FAILURE_TABLE: 'failures',
    },
    flows: () => [{ name: 'one', entrypoint: 'a', routeNext: [] }],
    logLevel: 'error',
    onLine: () => {},
    onWarning: () => {},
  };
  gateway = await started({});
  host = new URL(gateway.url).host;
  port = Number(new URL(gateway.url).port);
});
afterAll(async () => {
  await gateway.close();
  await local.close();
});

const CARD = '/.well-known/agent-card.json';
const PATHS = [
  ['GET', '/healthz'],
  ['GET', CARD],
  ['GET', '/flows'],
  ['POST', '/flows/one'],
  ['POST', '/mcp'],
  ['POST', '/a2a'],
  ['POST', '/reports'],
  ['GET', '/nowhere'],
] as const;

/** A request with a valid key, so that only the checks of the guard can refuse it. */
function requestTo(method: string, target: string, headers: RawRequest['headers'] = []): RawRequest {
  return {
    method,
    target,
    headers: [['Host', host], ['Authorization', `Bearer ${gateway.key}`], ...headers],
  };
}

describe.each(PATHS)('%s %s of a local gateway', (method, target) => {
  it.each(FOREIGN_EVERYWHERE)('refuses $what', async ({ change }) => {
    const { status, head, text } = await rawAnswer(port, change(requestTo(method, target), host));
    expect(status).toBe(403);
    expect(head).toContain('content-type: application/problem+json');
    expect(head).toContain('connection: close');
    expect(head).not.toContain('access-control-');
    expect(JSON.parse(text)).toEqual({
      type: 'about:blank',
      title: 'Forbidden',
      status: 403,
      detail: expect.stringMatching(
        `^the (Origin header|Host header|request target) is refused; a local gateway accepts requests at ${host} and localhost:${port} only, from programs and its own pages$`,
      ),
    });
    expect(text).not.toContain('evil');
  });
});

describe('a local gateway', () => {
  it.each([
    ['127.0.0.1', 'no Origin', []],
    ['localhost', 'no Origin', []],
    ['127.0.0.1', 'its own Origin', [['Origin', 'http://127.0.0.1']]],
    ['localhost', 'its own Origin', [['Origin', 'http://localhost']]],
    ['127.0.0.1', 'a typed address', [['Sec-Fetch-Site', 'none']]],
  ] as const)('serves %s with %s', async (name, _what, headers) => {
    const own = headers.map(([key, value]) => [key, key === 'Origin' ? `${value}:${port}` : value] as const);
    const answers = [];
    for (const path of ['/healthz', CARD, '/flows']) {
      const request = requestTo('GET', path, own);
      const [, ...rest] = request.headers;
      answers.push(await rawAnswer(port, { ...request, headers: [['Host', `${name}:${port}`], ...rest] }));
    }
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
  });
});

it('a gateway that is not local serves any Host and Origin', async () => {
  const served = await serveFace();
  const listening = await serveGateway(served.face, 0, '127.0.0.1');
  const headers = [
    ['Host', 'flows.example'],
    ['Origin', 'https://page.example'],
  ] as const;
  expect(await rawAnswer(listening.port, { target: '/healthz', headers })).toMatchObject({ status: 200 });
  await listening.close();
  await served.close();
});

describe('a later start', () => {
  it('uses the port and the key of the earlier one', async () => {
    const first = await started({});
    const usualPort = Number(new URL(first.url).port);
    await first.close();
    const second = await started({ usualPort, key: first.key });
    await second.close();
    expect(second).toMatchObject({ url: first.url, key: first.key });
  });

  it('warns and takes another port if a process uses the earlier one, unless the port was chosen', async () => {
    const warnings: string[] = [];
    const other = await started({ usualPort: port, onWarning: (text) => warnings.push(text) });
    await other.close();
    expect(other.url).not.toBe(gateway.url);
    expect(warnings).toEqual([expect.stringContaining(`another process uses port ${port}`)]);
    await expect(started({ port, usualPort: 1 })).rejects.toThrow(`cannot listen on port ${port}`);
  });
});
