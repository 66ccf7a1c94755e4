import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { type Gate, startGate } from '../support/gate.ts';

/** A gateway that hears reports, behind a gate. */
export interface HearingGateway extends Gate {
  /** What it was told of an envelope, in order. */
  toldOf(envelopeId: string): readonly Readonly<Record<string, unknown>>[];
  close(): Promise<void>;
}

export async function startGateway(): Promise<HearingGateway> {
  const reports: Readonly<Record<string, unknown>>[] = [];
  const server = createServer(async (request, response) => {
    const isReport = request.method === 'POST' && request.url === '/mesh/reports';
    // Whoever gave up waiting breaks off in the middle, and has told nothing.
    const body = await text(request).catch(() => undefined);
    if (body === undefined) return;
    if (isReport) reports.push(...JSON.parse(body).reports);
    response.writeHead(isReport ? 204 : 404).end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', () => resolve()));
  const gate = await startGate(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  return {
    ...gate,
    toldOf: (envelopeId) => reports.filter(({ envelope_id }) => envelope_id === envelopeId),
    close: async () => {
      await gate.shut();
      await new Promise((resolve) => {
        server.close(resolve);
        server.closeAllConnections();
      });
    },
  };
}
