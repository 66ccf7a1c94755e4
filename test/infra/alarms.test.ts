import { beforeAll, describe, expect, test } from 'vitest';
import { METRICS_NAMESPACE, toCamelCase } from '../../lib/core/delivery/metric-name.ts';
import { METRICS, type MetricName } from '../../lib/core/delivery/metrics.ts';
import {
  LETTERS,
  manifestIn,
  type Resource,
  resourcesOf,
  type TemplateJson,
  templateOf,
} from './a-mesh-stack.ts';

let template: TemplateJson;
let alarms: ReadonlyMap<string, Resource['Properties']>;
beforeAll(() => {
  template = templateOf(manifestIn(LETTERS));
  const entries = resourcesOf(template, 'AWS::CloudWatch::Alarm');
  alarms = new Map(entries.map(({ Properties }) => [Properties.AlarmName, Properties]));
});

const alarm = (name: string) => alarms.get(`asya-dev-letters-${name}`);

describe('alarms', () => {
  test('exist for each actor and for the crew', () => {
    const suffixes = ['dead-letters', 'failed', 'throttled', 'slow'];
    const expected = ['count', 'store', 'translate', 'review'].flatMap((actor) =>
      suffixes.map((suffix) => `asya-dev-letters-${actor}-${suffix}`),
    );
    const crew = ['x-sink-dead-letters', 'x-sump-dead-letters', 'x-sump-receiving'];
    const withDeadline = ['count-oldest', 'store-oldest'];
    expect([...alarms.keys()].sort()).toEqual(
      [...expected, ...[...crew, ...withDeadline].map((name) => `asya-dev-letters-${name}`)].sort(),
    );
  });

  test('notify the same topic when they start and when they are over', () => {
    const [topic] = resourcesOf(template, 'AWS::SNS::Topic');
    for (const properties of alarms.values()) {
      expect(properties.AlarmActions).toEqual([{ Ref: topic?.id }]);
      expect(properties.OKActions).toEqual([{ Ref: topic?.id }]);
      expect(properties.TreatMissingData).toBe('notBreaching');
      expect(properties.AlarmDescription).toContain('docs/operate.md');
    }
    expect(resourcesOf(template, 'AWS::SNS::Subscription')[0]?.Properties).toMatchObject({
      Endpoint: 'on-call@example.com',
    });
  });

  test('may publish to their topic, which accepts only TLS', () => {
    const [policy] = resourcesOf(template, 'AWS::SNS::TopicPolicy');
    expect(policy?.Properties.PolicyDocument.Statement).toEqual([
      expect.objectContaining({ Effect: 'Deny', Condition: { Bool: { 'aws:SecureTransport': 'false' } } }),
      expect.objectContaining({
        Effect: 'Allow',
        Action: 'sns:Publish',
        Principal: { Service: 'cloudwatch.amazonaws.com' },
        Condition: { StringEquals: { 'aws:SourceAccount': { Ref: 'AWS::AccountId' } } },
      }),
    ]);
  });

  test("compare the oldest message with half of the flow's timeout, and the duration with the actor timeout", () => {
    expect(alarm('count-oldest')).toMatchObject({
      Threshold: 60,
      MetricName: 'ApproximateAgeOfOldestMessage',
    });
    expect(alarm('count-slow')).toMatchObject({ Threshold: 8, Metrics: [{ MetricStat: { Stat: 'p99' } }] });
    expect(alarm('x-sump-receiving')).toMatchObject({ MetricName: 'NumberOfMessagesSent', Threshold: 1 });
  });

  test('use at most 10 metrics each and no search', () => {
    for (const { Metrics = [] } of alarms.values()) {
      expect(
        Metrics.filter(({ MetricStat }: { MetricStat?: object }) => MetricStat).length,
      ).toBeLessThanOrEqual(10);
      expect(JSON.stringify(Metrics)).not.toContain('SEARCH');
    }
  });

  test('use the metric names and labels that the functions write', () => {
    const used = [...alarms.values()].flatMap((properties) => metricsIn(properties));
    const ours = used.filter(({ Namespace }) => Namespace === METRICS_NAMESPACE);
    expect(ours.length).toBeGreaterThan(40);
    for (const { MetricName: name, Dimensions } of ours) {
      const known = (Object.keys(METRICS) as MetricName[]).find((metric) => toCamelCase(metric) === name);
      const labels = Dimensions.map(({ Name }) => Name).sort();
      expect(labels).toEqual(['service', ...METRICS[known as MetricName].labels].sort());
    }
  });
});

interface UsedMetric {
  readonly Namespace: string;
  readonly MetricName: string;
  readonly Dimensions: readonly { readonly Name: string; readonly Value: string }[];
}

function metricsIn(properties: Resource['Properties']): readonly UsedMetric[] {
  if (properties.MetricName !== undefined) return [properties];
  return properties.Metrics.flatMap(({ MetricStat }: { MetricStat?: { Metric: UsedMetric } }) =>
    MetricStat === undefined ? [] : [MetricStat.Metric],
  );
}

describe('the dashboard', () => {
  const textOf = () => JSON.stringify(resourcesOf(template, 'AWS::CloudWatch::Dashboard')[0]?.Properties);

  test('is named after the mesh and has an overview and a row for each actor and flow', () => {
    const text = textOf();
    for (const title of ['Throughput', 'Failures', 'Retries', 'Oldest message', 'Dead letters'])
      expect(text).toContain(`\\"title\\":\\"${title}\\"`);
    for (const actor of ['count', 'store', 'translate', 'review']) {
      for (const part of [
        'deliveries by result',
        'errors by reason',
        'retries',
        'call duration',
        'concurrency',
      ])
        expect(text).toContain(`${actor}: ${part}`);
    }
    for (const flow of ['count-letters', 'translated']) expect(text).toContain(`${flow}: SLA misses`);
    expect(text).toContain('asya-dev-letters');
    expect(text).toContain('SLA: 120 s');
    expect(text).toContain('timeout: 10 s');
  });
});
