import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { gatewayReports } from '../../../lib/adapters/gateway-http/gateway-reports.ts';
import { signedPost } from '../../../lib/adapters/gateway-http/signed-post.ts';
import { httpClient } from '../../../lib/adapters/http-client/http-client.ts';
import type { Report } from '../../../lib/core/task/report.ts';
import type { Reports } from '../../../lib/ports/reports.ts';
import { withoutRequestTimeouts } from '../../support/without-request-timeouts.ts';

const REPORT: Report = {
  task: 't-1',
  envelope_id: 'e-1',
  event: 'final',
  actor: 'score',
  hop: 1,
  phase: 'succeeded',
  archive_key: 'k',
};

interface ReceivedRequest {
  readonly method: string | undefined;
  readonly url: string | undefined;
  readonly type: string | undefined;
  readonly body: unknown;
}

const http = httpClient();

function reportsTo(url: string): Reports {
  return gatewayReports(signedPost({ url }, http, Date.now));
}

let server: Server;
let base: string;
const received: ReceivedRequest[] = [];
beforeAll(async () => {
  server = createServer({ keepAliveTimeout: 0 }, async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const { method, url } = request;
    const body: unknown = JSON.parse(Buffer.concat(chunks).toString('utf8'));
    received.push({ method, url, type: request.headers['content-type'], body });
    if (url?.startsWith('/hangs')) return;
    if (url?.startsWith('/dribbles')) {
      response.writeHead(200);
      response.write('{');
      return;
    }
    response.writeHead(url?.startsWith('/refuses') ? 503 : 204).end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', () => resolve()));
  base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => {
  http.close();
  server.closeAllConnections();
  server.close();
});

describe('a report', () => {
  withoutRequestTimeouts();

  it.each(['', '/', '/mesh', '/mesh//'])(
    'is posted below the URL of the gateway with the path "%s"',
    async (path) => {
      expect(await reportsTo(`${base}${path}`).report(REPORT)).toBeUndefined();
      expect(received.at(-1)).toEqual({
        method: 'POST',
        url: `${path.replace(/\/+$/, '')}/reports`,
        type: 'application/json',
        body: { reports: [REPORT] },
      });
    },
  );

  it('is not sent without a gateway', async () => {
    const before = received.length;
    expect(await gatewayReports(undefined).report(REPORT)).toBeUndefined();
    expect(received.length).toBe(before);
  });

  it('returns the problem if it is rejected', async () => {
    expect(await reportsTo(`${base}/refuses`).report(REPORT)).toBe(`${base}/refuses/reports answered 503`);
  });

  it('is batched with those of the same moment, and while a request is running', async () => {
    const requests: (readonly Report[])[] = [];
    const { report: sendReport } = gatewayReports(async (reports) => {
      requests.push(reports);
      await new Promise((resolve) => setImmediate(resolve));
      return requests.length === 2 ? { problem: 'no' } : { canceled: new Set() };
    });
    const ids = Array.from({ length: 30 }, (_, nth) => `e-${nth}`);
    const replies = await Promise.all(ids.map((envelope_id) => sendReport({ ...REPORT, envelope_id })));
    expect(requests.map(({ length }) => length)).toEqual([20, 10]);
    expect(requests.flat().map(({ envelope_id }) => envelope_id)).toEqual(ids);
    expect(replies.map((problem) => problem === 'no')).toEqual(ids.map((_, nth) => nth >= 20));
    expect(await sendReport(REPORT)).toBeUndefined();
  });

  it('returns the problem if the gateway is down', async () => {
    expect(await reportsTo('http://127.0.0.1:1').report(REPORT)).toMatch(
      /^http:\/\/127\.0\.0\.1:1\/reports: .*(ECONNREFUSED|bad port)/,
    );
  });
});

it('a report times out', async () => {
  const replies = await Promise.all(
    ['/hangs', '/dribbles'].map((path) => reportsTo(`${base}${path}`).report(REPORT)),
  );
  for (const reply of replies) expect(reply).toMatch(/reports: .*(timeout|aborted)/i);
});
