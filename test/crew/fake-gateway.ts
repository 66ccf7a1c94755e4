import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { type OutageProxy, startOutageProxy } from '../support/outage-proxy.ts';

/** A gateway that accepts reports, behind a proxy that can simulate outages. */
export interface FakeGateway extends OutageProxy {
  /** The reports about an envelope, in order. */
  reportsOf(envelopeId: string): readonly Readonly<Record<string, unknown>>[];
  close(): Promise<void>;
}

export async function startFakeGateway(): Promise<FakeGateway> {
  const reports: Readonly<Record<string, unknown>>[] = [];
  const server = createServer(async (request, response) => {
    const isReport = request.method === 'POST' && request.url === '/mesh/reports';
    // A client that timed out closes the connection during the request; its report does not count.
    const body = await text(request).catch(() => undefined);
    if (body === undefined) return;
    if (isReport) reports.push(...JSON.parse(body).reports);
    response.writeHead(isReport ? 204 : 404).end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', () => resolve()));
  const proxy = await startOutageProxy(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  return {
    ...proxy,
    reportsOf: (envelopeId) => reports.filter(({ envelope_id }) => envelope_id === envelopeId),
    close: async () => {
      await proxy.goDown();
      await new Promise((resolve) => {
        server.close(resolve);
        server.closeAllConnections();
      });
    },
  };
}
