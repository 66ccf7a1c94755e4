import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const ROOT = join(import.meta.dirname, '../..');
const PAGE = readFileSync(join(ROOT, 'docs/costs.md'), 'utf8');

interface Resource {
  readonly Type: string;
  readonly Properties: { readonly Metrics?: readonly object[] };
}

/** The mesh of the example: four actors and a gateway. Another test compares the snapshot with what is synthesized. */
const TEMPLATE: { readonly Resources: Readonly<Record<string, Resource>> } = JSON.parse(
  readFileSync(join(ROOT, 'test/infra/snapshots/letters.template'), 'utf8'),
);

function resources(type: string): readonly Resource[] {
  return Object.values(TEMPLATE.Resources).filter(({ Type }) => Type === type);
}

/** Amount and price of a row of the table. */
function rowOf(text: string): { readonly each: number; readonly amount: number; readonly dollars: number } {
  const row = PAGE.split('\n').find((line) => line.startsWith(`| ${text}`)) ?? '';
  const [, each, amount, dollars] = /\| \$([\d.]+) \| (\d+): \$([\d.]+) \|$/.exec(row) ?? [];
  return { each: Number(each), amount: Number(amount), dollars: Number(dollars) };
}

const alarmMetrics = ({ Properties: { Metrics } }: Resource) =>
  Metrics?.filter((metric) => 'MetricStat' in metric).length ?? 1;

test.each([
  ['polls of each queue', resources('AWS::Lambda::EventSourceMapping').length],
  [
    'each metric that an alarm watches',
    resources('AWS::CloudWatch::Alarm').reduce((sum, one) => sum + alarmMetrics(one), 0),
  ],
  ['secrets of the gateway', resources('AWS::SecretsManager::Secret').length],
  ['dashboard', resources('AWS::CloudWatch::Dashboard').length],
])('an idle mesh has the amount that the page says: %s', (text, amount) => {
  const row = rowOf(text);
  expect(row.amount).toBe(amount);
  expect(Math.abs(row.each * row.amount - row.dollars)).toBeLessThan(0.02);
});

test('the costs of an idle mesh are added correctly', () => {
  const rows = ['polls of each queue', 'each metric', 'secrets of the gateway', 'dashboard'].map(rowOf);
  const total = rows.reduce((sum, { dollars }) => sum + dollars, 0);
  expect(PAGE).toContain(`| together | | $${total.toFixed(2)} |`);
});
