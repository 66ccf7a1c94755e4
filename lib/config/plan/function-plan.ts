import type { ArchiveChoice } from '../../core/failure/archiving.ts';
import { defined } from '../../core/text/defined.ts';
import { type Mistake, mistakesText } from '../../core/text/mistake.ts';
import type { ActorAccess } from '../manifest/access.ts';
import type { RuntimeSpec } from '../manifest/manifest.ts';
import type {
  BrokerConfig,
  GatewayConfig,
  LogLevel,
  Reporting,
  SidecarConfig,
  Storage,
} from '../settings/host-config.ts';
import { deadLetterQueueName, queueName } from '../settings/queue-name.ts';
import type { ReadHostConfig } from '../settings/read-host-config.ts';
import { type QueueChoices, type QueuePlan, queuePlan } from './queue-plan.ts';

/** One function, its own queue if it has one, and the queues that invoke it. */
export interface FunctionPlan<Config = SidecarConfig | GatewayConfig> {
  readonly actor: string;
  /** The folder in `functions/`. */
  readonly folder:
    | 'sidecar'
    | 'x-sink'
    | 'x-sump'
    | 'x-dlq'
    | 'gateway-timer'
    | 'gateway-reports'
    | 'gateway';
  /** Undefined for x-dlq, which drains the dead-letter queues of other actors. */
  readonly queue?: PlannedQueue;
  /** The queues whose messages invoke it. */
  readonly sources: readonly string[];
  /** The actors whose dead-letter queues these are. Set for x-dlq only. */
  readonly drains?: readonly string[];
  readonly batchSize: number;
  readonly batchWindowSeconds: number;
  readonly maxReplicas: number;
  readonly timeoutSeconds: number;
  readonly memoryMb: number;
  /** The configuration of the sidecar, crew actor or gateway that it runs. */
  readonly config: Config;
  /** Undefined for the crew. */
  readonly runtime?: RuntimeSpec;
  readonly environment: Readonly<Record<string, string>>;
  /** ARNs of the KMS keys that encrypt its secrets. The secrets themselves are in `config.runtime`. Undefined: none. */
  readonly secretKeys?: readonly string[];
  /** What the handler may do on AWS. Undefined: nothing. */
  readonly access?: ActorAccess;
  /** AWS tags. Undefined for the crew and the gateway. They do not change how the function runs. */
  readonly labels?: Readonly<Record<string, string>>;
  /** Every queue that it may send to. */
  readonly sendsTo: readonly string[];
}

/** The function of an actor or of one of the crew. */
export type ActorPlan = FunctionPlan<SidecarConfig>;

export function isActorPlan(plan: FunctionPlan): plan is ActorPlan {
  return 'queues' in plan.config;
}

export interface PlannedQueue {
  readonly name: string;
  readonly deadLetterName: string;
  readonly plan: QueuePlan;
}

/** The client of SQS in functions on Lambda: our own, or that of the AWS SDK. */
export type SqsClientName = BrokerConfig['sqs']['client'];

export interface PlanSettings {
  readonly namespace?: string;
  readonly region: string;
  /** The AWS account, which queue URLs contain. May be a token of the CDK. Default: functions ask SQS for the URLs. */
  readonly account?: string;
  /** The client of SQS in functions on Lambda. Default: `slim`. */
  readonly sqsClient?: SqsClientName;
  readonly storage: Storage;
  /** Variables that select and reach the broker. Default: SQS. */
  readonly broker?: Readonly<Record<string, string>>;
  readonly gatewayUrl?: string;
  /** Set if the mesh has a gateway. All actors then report to it, and its timers have a queue. */
  readonly gateway?: { readonly url: string; readonly secret: string };
  readonly logLevel?: LogLevel;
  readonly queues?: QueueChoices;
  /** Maximum number of copies of any function, whatever its manifest says. */
  readonly replicaLimit?: number;
  /** Maximum number of copies of each function of the crew. Default: 10. */
  readonly crewReplicas?: number;
  /** Which ended envelopes x-sink archives. Default: all. */
  readonly archives?: ArchiveChoice;
  /**
   * How long x-sink collects up to 100 ended envelopes, to archive them together. An end is known that much later, at
   * most. Default: 0, as many as SQS returns at once, up to 10.
   */
  readonly archiveWindowSeconds?: number;
}

/** Lambda's maximum timeout. */
export const MAX_FUNCTION_SECONDS = 900;
/** The time that a function needs besides its calls: to load, to start the runtime, to make the last sends. */
export const OVERHEAD_SECONDS = 5;
/** Maximum timeout of an actor on Lambda. */
export const MAX_ACTOR_TIMEOUT_MS = (MAX_FUNCTION_SECONDS - OVERHEAD_SECONDS) * 1000;

export function replicasOf(wanted: number, { replicaLimit = wanted }: PlanSettings): number {
  return Math.min(wanted, replicaLimit);
}

export function plannedQueue(actor: string, visibilitySeconds: number, settings: PlanSettings): PlannedQueue {
  const { namespace, queues } = settings;
  return {
    name: queueName(actor, namespace),
    deadLetterName: deadLetterQueueName(queueName(actor, namespace)),
    plan: queuePlan(visibilitySeconds, queues),
  };
}

export function reportingTo({ gateway }: PlanSettings): Reporting {
  return gateway === undefined ? {} : { gatewayUrl: gateway.url, gatewaySecret: gateway.secret };
}

const SQS = { ASYA_TRANSPORT: 'sqs' };

/** The defaults of the settings table, with what is the same for all functions of a mesh. */
export function baseConfig<Config extends BrokerConfig>(
  read: ReadHostConfig<Config>,
  name: string,
  { namespace, region, account, sqsClient, broker = SQS, logLevel = 'info' }: PlanSettings,
): Config {
  const variables = {
    ASYA_ACTOR_NAME: name,
    ...broker,
    ASYA_AWS_REGION: region,
    ASYA_LOG_LEVEL: logLevel,
    ASYA_METRICS_ADDR: '',
    ...defined({ ASYA_NAMESPACE: namespace, ASYA_SQS_CLIENT: sqsClient }),
  };
  const reading = read(variables, () => ({ problem: 'there is no file' }));
  if ('config' in reading) {
    const { config } = reading;
    return { ...config, sqs: { ...config.sqs, ...defined({ account }) } };
  }
  throw new InvalidPlanError(reading.mistakes);
}

/** The plan is not possible: the broker would reject the names of its queues. */
class InvalidPlanError extends Error {
  readonly mistakes: readonly Mistake[];

  constructor(mistakes: readonly Mistake[]) {
    super(mistakesText(mistakes));
    this.mistakes = mistakes;
  }
}
