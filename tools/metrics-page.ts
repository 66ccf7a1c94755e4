import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { toCamelCase } from '../lib/core/delivery/metric-name.ts';
import { METRICS, type Metric, type MetricName } from '../lib/core/delivery/metrics.ts';

const PAGE = 'docs/metrics.md';
const BEGIN = '<!-- metrics: begin -->';
const END = '<!-- metrics: end -->';

const TYPES: Readonly<Record<Metric['kind'], string>> = {
  count: 'counter',
  seconds: 'histogram, seconds',
  bytes: 'histogram, bytes',
  level: 'gauge; not on Lambda',
};

/** `docs/metrics.md` with a table generated from `METRICS`. The rest of the page is not generated. */
export function metricsPage(root: string): string {
  const page = readFileSync(join(root, PAGE), 'utf8');
  const [before, rest = ''] = page.split(BEGIN);
  const [, after] = rest.split(END);
  if (after === undefined)
    throw new Error(`${PAGE} has no markers for its table: expected ${BEGIN} and ${END}`);
  return `${before}${BEGIN}\n${metricsTable()}${END}${after}`;
}

function metricsTable(): string {
  const rows = Object.entries(METRICS).map(([name, { kind, help, labels }]) => {
    const labelText = labels.map((label) => `\`${label}\``).join(', ');
    return `| \`${name}\` | \`${toCamelCase(name as MetricName)}\` | ${TYPES[kind]} | ${labelText} | ${help} |\n`;
  });
  return `| Prometheus | CloudWatch | Type | Labels | Meaning |\n|---|---|---|---|---|\n${rows.join('')}`;
}
