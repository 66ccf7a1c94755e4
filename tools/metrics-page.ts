import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { FAILED_TEXTS, RESULT_TEXTS } from '../lib/core/delivery/event-text.ts';
import { toCamelCase } from '../lib/core/delivery/metric-name.ts';
import { METRICS, type Metric, type MetricName } from '../lib/core/delivery/metrics.ts';
import type { FailedReason, Result } from '../lib/core/delivery/plan.ts';

const PAGE = 'docs/metrics.md';

const TYPES: Readonly<Record<Metric['kind'], string>> = {
  count: 'counter',
  seconds: 'histogram, seconds',
  bytes: 'histogram, bytes',
  level: 'gauge; not on Lambda',
};

/** What each value counts. Its text in logs, failures and simulations is in `event-text.ts`. */
const RESULT_MEANINGS: Readonly<Record<Result, string>> = {
  success: 'the handler returned a value',
  empty_response: 'the handler returned nothing, and the route ends',
  end_consumed: 'x-sink, x-sump, x-dlq or another end actor is done with an envelope',
  error: 'the call failed; counted in addition to what follows',
  retried: 'the envelope was sent again with a delay',
  policy_routed: 'a failed envelope was sent to other actors, by `onExhausted` or `_on_error`',
  sla_expired: 'the deadline passed, or a retry would miss it',
  escalated: 'a failed envelope was sent to a topic',
  dropped: 'a failed envelope ended, and is not in the failure index',
  canceled: 'the envelope was canceled before it arrived',
  deferred: 'it was sent again until it is due, because the broker does not support such a long delay',
  returned: 'it was sent again because the host or the runtime was stopping; no attempt is counted',
};

const FAILED_MEANINGS: Readonly<Record<FailedReason, string>> = {
  runtime_error:
    'no rule and no default policy applies, the built-in policy for lost connections is exhausted, or a limit was exceeded',
  policy_exhausted: 'the policy allows no other attempt',
  timeout: 'the handler did not answer in time, and no rule matches `ActorTimeout`',
  sla_timeout: 'the deadline passed, or a retry would miss it',
  parse_error: 'the message cannot be parsed',
  validation_error: 'the envelope, or what the handler returned, is not valid',
  route_mismatch: 'the envelope arrived at another actor than `route.curr`',
  retry_send_failed: 'the broker refused the retry, or does not support delays',
  transport_error: 'the broker refused a send; the message is not acknowledged',
};

/** `docs/metrics.md` with tables generated from the code. The rest of the page is not generated. */
export function metricsPage(root: string): string {
  const page = readFileSync(join(root, PAGE), 'utf8');
  const withMetrics = withTable(page, 'metrics', metricsTable());
  return withTable(withMetrics, 'events', eventsTable());
}

function withTable(page: string, name: string, table: string): string {
  const [begin, end] = [`<!-- ${name}: begin -->`, `<!-- ${name}: end -->`];
  const [before, rest = ''] = page.split(begin);
  const [, after] = rest.split(end);
  if (after === undefined)
    throw new Error(`${PAGE} has no markers for a table: expected ${begin} and ${end}`);
  return `${before}${begin}\n${table}${end}${after}`;
}

function metricsTable(): string {
  const rows = Object.entries(METRICS).map(([name, { kind, help, labels }]) => {
    const labelText = labels.map((label) => `\`${label}\``).join(', ');
    return `| \`${name}\` | \`${toCamelCase(name as MetricName)}\` | ${TYPES[kind]} | ${labelText} | ${help} |\n`;
  });
  return `| Prometheus | CloudWatch | Type | Labels | Meaning |\n|---|---|---|---|---|\n${rows.join('')}`;
}

function eventsTable(): string {
  const rows = [
    ...rowsOf('result', RESULT_MEANINGS, RESULT_TEXTS),
    ...rowsOf('reason', FAILED_MEANINGS, FAILED_TEXTS),
  ];
  return `| Label | Value | In the log | Meaning |\n|---|---|---|---|\n${rows.join('')}`;
}

function rowsOf<Value extends string>(
  label: string,
  meanings: Readonly<Record<Value, string>>,
  texts: Readonly<Record<Value, string>>,
): readonly string[] {
  return (Object.keys(meanings) as Value[]).map(
    (value) => `| \`${label}\` | \`${value}\` | ${texts[value]} | ${meanings[value]} |\n`,
  );
}
