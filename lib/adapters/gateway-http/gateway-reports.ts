import type { Reports } from '../../ports/reports.ts';

/** What telling may cost, at most. */
const BUDGET_MS = 2_000;

/** Reports over HTTP to the gateway; without an address there is nobody to tell. */
export function gatewayReports(gatewayUrl: string | undefined): Reports {
  if (gatewayUrl === undefined) return { tell: () => Promise.resolve(undefined) };
  const url = `${gatewayUrl.replace(/\/+$/, '')}/reports`;
  return {
    tell: async (report) => {
      try {
        const response = await fetch(url, {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify({ reports: [report] }),
          signal: AbortSignal.timeout(BUDGET_MS),
        });
        await response.arrayBuffer();
        return response.ok ? undefined : `${url} answered ${response.status}`;
      } catch (error) {
        const { cause } = error as { cause?: unknown };
        return `${url}: ${cause instanceof Error ? cause.message : String(error)}`;
      }
    },
  };
}
