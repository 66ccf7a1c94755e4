import { runContest } from './measure.ts';
import { envelopeOf, PAYLOADS } from './payloads.ts';
import type { Row } from './report.ts';
import { ECHO, lineTo, route } from './subjects/router.ts';

/** How the cost of a delivery grows with its payload, compared with one JSON.stringify of the payload. */
export async function benchSlope(): Promise<readonly Row[]> {
  const rows: Row[] = [];
  for (const kind of ['text', 'records'] as const) {
    for (const [bytes, units] of [
      [1024, 2000],
      [65_536, 200],
      [1_000_000, 10],
    ] as const) {
      const payload = PAYLOADS[kind](bytes);
      const value: unknown = JSON.parse(payload);
      const body = envelopeOf(payload);
      const line = lineTo(ECHO);
      const result = await runContest({
        name: `${Math.round(bytes / 1024)} KB of ${kind}`,
        units,
        rounds: 15,
        subject: () => route(body, units, line),
        peer: async () => {
          for (let index = 0; index < units; index++) JSON.stringify(value);
        },
      });
      rows.push({ group: 'delivery without a call / JSON.stringify of the payload', ...result });
    }
  }
  return rows;
}
