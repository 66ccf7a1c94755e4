import { Dashboard, GraphWidget, type IMetric, TextWidget } from 'aws-cdk-lib/aws-cloudwatch';
import type { Queue } from 'aws-cdk-lib/aws-sqs';
import { Construct } from 'constructs';
import type { Flow } from '../../lib/core/task/flow.ts';
import type { Actor } from './actor.ts';
import type { MeshGateway } from './mesh-gateway.ts';
import { METRIC_PERIOD, metricOverAll, metricsBy } from './mesh-metrics.ts';

export interface MeshDashboardProps {
  /** The mesh's namespace. The dashboard is named `asya-{namespace}` and shows metrics whose `service` is the namespace. */
  readonly namespace: string;
}

const HEIGHT = 6;
/** Five graphs in a row of 24 columns. */
const WIDTHS = [5, 5, 5, 5, 4] as const;

/** The dashboard of a mesh: an overview, and a row for each actor, each flow and the gateway. */
export class MeshDashboard extends Construct {
  readonly dashboard: Dashboard;
  private readonly namespace: string;
  private readonly throughput = graph(0, 'Throughput', 'deliveries');
  private readonly failures = graph(1, 'Failures', 'deliveries');
  private readonly retries = graph(2, 'Retries', 'deliveries');
  private readonly oldest = graph(3, 'Oldest message', 'seconds');
  private readonly deadLetters = graph(4, 'Dead letters', 'messages');

  constructor(scope: Construct, id: string, { namespace }: MeshDashboardProps) {
    super(scope, id);
    this.namespace = namespace;
    this.dashboard = new Dashboard(this, 'Dashboard', { dashboardName: `asya-${namespace}` });
    const { throughput, failures, retries, oldest, deadLetters } = this;
    this.dashboard.addWidgets(heading(`# ${namespace}`));
    this.dashboard.addWidgets(throughput, failures, retries, oldest, deadLetters);
  }

  /** Adds an actor to the overview, and a row for it. */
  addActor(actor: Actor): void {
    const { actorName: label } = actor;
    const { queue, maxReplicas, config } = actor.plan;
    const labels = { queue: queue?.name ?? '' };
    this.throughput.addLeftMetric(actor.metricReceived());
    this.failures.addLeftMetric(metricOverAll(this.namespace, 'messages_failed_total', labels, label));
    this.retries.addLeftMetric(actor.metricRetried());
    this.oldest.addLeftMetric(actor.metricOldestAge({ label }));
    this.deadLetters.addLeftMetric(actor.metricDeadLetters({ label }));
    const timeoutSeconds = config.actor.timeoutMs / 1000;
    this.dashboard.addWidgets(heading(`## ${label}`));
    this.dashboard.addWidgets(
      graph(0, `${label}: deliveries by result`, 'deliveries', [
        metricsBy(this.namespace, 'messages_total', labels),
      ]),
      graph(1, `${label}: errors by reason`, 'deliveries', [
        metricsBy(this.namespace, 'messages_failed_total', labels),
      ]),
      graph(2, `${label}: retries`, 'deliveries', [actor.metricRetried()]),
      graph(
        3,
        `${label}: call duration`,
        'seconds',
        ['p50', 'p90', 'p99'].map((percentile) => actor.metricDuration(percentile)),
        { value: timeoutSeconds, label: `timeout: ${timeoutSeconds} s` },
      ),
      graph(4, `${label}: concurrency`, 'executions', [actor.metricConcurrency()], {
        value: maxReplicas,
        label: `limit: ${maxReplicas}`,
      }),
    );
  }

  /** Adds a queue of the crew to the overview. */
  addQueue(label: string, queue: Queue, deadLetterQueue: Queue): void {
    const options = { label, period: METRIC_PERIOD, statistic: 'Maximum' };
    this.oldest.addLeftMetric(queue.metricApproximateAgeOfOldestMessage(options));
    this.deadLetters.addLeftMetric(deadLetterQueue.metricApproximateNumberOfMessagesVisible(options));
  }

  /** Adds a row for the gateway. */
  addGateway({ function: callers, reports, callersAtOnce }: MeshGateway): void {
    const options = { period: METRIC_PERIOD };
    this.dashboard.addWidgets(heading('## gateway'));
    this.dashboard.addWidgets(
      wide(
        'gateway: concurrent requests',
        'requests and streams',
        [callers.metricConcurrency(options)],
        callersAtOnce === undefined ? undefined : { value: callersAtOnce, label: `limit: ${callersAtOnce}` },
      ),
      wide('gateway: throttled and failed', 'requests', [
        callers.metricThrottles({ ...options, label: 'throttled' }),
        callers.metricUrl('Url5xxCount', { label: 'failed' }),
      ]),
      wide('gateway: reports', 'requests', [reports.metricRequests(), reports.metricLost()]),
    );
  }

  /**
   * Adds a row for a flow. A missed deadline is counted at the actor that detects it. If two flows share this actor, it
   * appears in both rows.
   */
  addFlow(flow: Flow, actors: readonly Actor[]): void {
    const { name, timeoutSeconds, entrypoint, routeNext } = flow;
    const limit =
      timeoutSeconds === undefined ? undefined : { value: timeoutSeconds, label: `SLA: ${timeoutSeconds} s` };
    const within = timeoutSeconds === undefined ? '' : `, within ${timeoutSeconds} s`;
    this.dashboard.addWidgets(heading(`## flow ${name}: ${[entrypoint, ...routeNext].join(' → ')}${within}`));
    this.dashboard.addWidgets(
      wide(
        `${name}: SLA misses`,
        'envelopes',
        actors.map((actor) => actor.metricSlaMisses()),
      ),
      wide(
        `${name}: started`,
        'deliveries',
        actors.filter(({ actorName }) => actorName === entrypoint).map((actor) => actor.metricReceived()),
      ),
      wide(
        `${name}: oldest message`,
        'seconds',
        actors.map((actor) => actor.metricOldestAge({ label: actor.actorName })),
        limit,
      ),
    );
  }
}

interface Limit {
  readonly value: number;
  readonly label: string;
}

function heading(markdown: string): TextWidget {
  return new TextWidget({ markdown, width: 24, height: 1 });
}

function graph(
  column: keyof typeof WIDTHS & number,
  title: string,
  unit: string,
  metrics: readonly IMetric[] = [],
  limit?: Limit,
): GraphWidget {
  return widget(WIDTHS[column] ?? 5, title, unit, metrics, limit);
}

function wide(title: string, unit: string, metrics: readonly IMetric[], limit?: Limit): GraphWidget {
  return widget(8, title, unit, metrics, limit);
}

function widget(
  width: number,
  title: string,
  unit: string,
  metrics: readonly IMetric[],
  limit: Limit | undefined,
): GraphWidget {
  return new GraphWidget({
    title,
    width,
    height: HEIGHT,
    left: [...metrics],
    leftYAxis: { label: unit, showUnits: false, min: 0 },
    period: METRIC_PERIOD,
    ...(limit !== undefined && { leftAnnotations: [limit] }),
  });
}
