import { SecretValue } from 'aws-cdk-lib';
import { type IGrantable, type IPrincipal, PolicyStatement } from 'aws-cdk-lib/aws-iam';
import { FunctionUrlAuthType, InvokeMode, type Function as LambdaFunction } from 'aws-cdk-lib/aws-lambda';
import { type ISecret, Secret } from 'aws-cdk-lib/aws-secretsmanager';
import { Construct } from 'constructs';
import type { Manifest } from '../../lib/config/manifest/manifest.ts';
import {
  CANCELLATIONS_PREFIX,
  type FailureTableIndex,
  IDEMPOTENCY_PREFIX,
} from '../../lib/config/plan/failure-table.ts';
import type { FunctionPlan, PlanSettings } from '../../lib/config/plan/function-plan.ts';
import { GATEWAY, gatewayPlan } from '../../lib/config/plan/gateway-plan.ts';
import { planMesh } from '../../lib/config/plan/mesh-plan.ts';
import { defined } from '../../lib/core/text/defined.ts';
import { describeValue } from '../../lib/core/text/describe-value.ts';
import type { FunctionCode } from '../code/mesh-code.ts';
import { ARCHIVE_FOLDERS } from './crew.ts';
import { deadLetterAlarm } from './dead-letter-alarm.ts';
import { type GatewayFunctionsProps, GatewayReports } from './gateway-reports.ts';
import { grantKey } from './grant-key.ts';
import { meshAlarm } from './mesh-alarm.ts';
import { MeshFunction } from './mesh-function.ts';
import { METRIC_PERIOD } from './mesh-metrics.ts';
import { MeshQueue } from './mesh-queue.ts';

/** The JSON Web Tokens (JWT) that the gateway accepts. */
export interface GatewayTokens {
  /** Required value of the `iss` claim. */
  readonly issuer: string;
  /** Required value of the `aud` claim. */
  readonly audience: string;
  /** URL of the issuer's public keys (JWKS), with `https:`. */
  readonly jwksUrl: string;
}

export interface GatewayOptions {
  /**
   * Secret with the keys of callers in the format of `ASYA_GATEWAY_KEYS`: `[{"id":"...","sha256":"..."}]`. It contains
   * only hashes.
   * @default a new secret with an empty list, which rejects all callers; add keys to it and deploy again with the new
   * `keysVersion`
   */
  readonly keys?: ISecret;
  /**
   * `VersionId` of the secret, as returned by `aws secretsmanager put-secret-value`: 32 to 64 letters, digits and `-`.
   * CloudFormation reads a secret only when the reference to it changes, so new keys need a new version here.
   * @default the newest version at the time when CloudFormation next updates the function
   */
  readonly keysVersion?: string;
  /**
   * Tokens that are accepted in addition to keys.
   * @default only keys are accepted
   */
  readonly tokens?: GatewayTokens;
  /**
   * Origins of web pages that may call over MCP, for example `https://app.example`. Clients outside a browser send no
   * origin and are not restricted.
   * @default no web pages
   */
  readonly origins?: readonly string[];
  /**
   * Maximum number of simultaneous requests of callers. Each request and each stream occupies one invocation for as long
   * as it lasts. This number is reserved from the account's concurrency, and Lambda requires that 100 remain for other
   * functions. At least 1.
   * @default no limit; callers can use up the concurrency that reports and actors need
   */
  readonly callersAtOnce?: number;
}

/** The gateway lists a caller's tasks and looks up the end records of an envelope. */
const QUERIED_INDEXES: readonly FailureTableIndex[] = ['by-owner', 'by-envelope'];

/** The format of version ids in Secrets Manager. */
const VERSION_ID = /^[\w-]{32,64}$/;

export interface MeshGatewayProps extends GatewayOptions, GatewayFunctionsProps {
  /** The flows that the gateway offers, and their actors. */
  readonly manifest: Manifest;
}

/**
 * The gateway: a function URL with response streaming, a function for reports, and a queue with timers that fail tasks
 * after their deadline. Callers without a valid key or token are rejected.
 */
export class MeshGateway extends Construct implements IGrantable {
  /** URL for callers. */
  readonly url: string;
  /** Secret with the keys of callers. */
  readonly keys: ISecret;
  /** Queue of the timers of tasks with a deadline. */
  readonly timers: MeshQueue;
  readonly function: MeshFunction;
  readonly reports: GatewayReports;
  readonly callersAtOnce: number | undefined;
  private readonly reportSecret: string;

  constructor(scope: Construct, id: string, props: MeshGatewayProps) {
    super(scope, id);
    const { manifest, settings, code, crew, encryptionKey, alarmTopic, keysVersion } = props;
    if (keysVersion !== undefined && !VERSION_ID.test(keysVersion))
      throw new Error(
        `asya: keysVersion of the gateway is ${describeValue(keysVersion)}; expected the VersionId that put-secret-value returned`,
      );
    const kept = defined({ encryptionKey, removalPolicy: props.removalPolicy });
    const reportSecret = new Secret(this, 'Reports', {
      description: 'Secret with which the functions of the mesh sign their reports to the gateway',
      generateSecretString: { excludePunctuation: true, passwordLength: 48 },
      ...kept,
    });
    this.reportSecret = reportSecret.secretValue.unsafeUnwrap();
    this.callersAtOnce = props.callersAtOnce;
    this.keys =
      props.keys ??
      (new Secret(this, 'Keys', {
        description: 'Keys of callers: [{"id":"...","sha256":"..."}]; an empty list rejects all callers',
        secretStringValue: SecretValue.unsafePlainText('[]'),
        ...kept,
      }) as ISecret);
    const plan = gatewayPlan(manifest, {
      ...settings,
      keys: SecretValue.secretsManager(
        this.keys.secretArn,
        defined({ versionId: keysVersion }),
      ).unsafeUnwrap(),
      callers: { ...props.tokens, ...defined({ origins: props.origins }) },
    });
    this.function = this.functionOf(
      'Function',
      plan,
      code.gateway(this, manifest.flows),
      props,
      defined({ reservedConcurrentExecutions: props.callersAtOnce }),
    );
    // To confirm or release the idempotency key of a request, and to announce a cancellation. Other items of the table
    // cannot be updated.
    this.function.role.addToPolicy(
      new PolicyStatement({
        actions: ['dynamodb:UpdateItem'],
        resources: [crew.failures.tableArn],
        conditions: {
          'ForAllValues:StringLike': {
            'dynamodb:LeadingKeys': [`${IDEMPOTENCY_PREFIX}*`, `${CANCELLATIONS_PREFIX}*`],
          },
        },
      }),
    );
    this.url = this.function.function.addFunctionUrl({
      // The gateway checks keys and tokens itself, so the URL needs no IAM authentication.
      authType: FunctionUrlAuthType.NONE,
      invokeMode: InvokeMode.RESPONSE_STREAM,
    }).url;
    this.reports = new GatewayReports(this, 'ReportsFunction', {
      settings,
      secret: this.reportSecret,
      code,
      crew,
      ...kept,
      ...defined({ logRetention: props.logRetention, alarmTopic }),
    });
    const timerPlan = timerPlanOf(settings, this.access);
    this.timers = new MeshQueue(this, 'Timers', {
      planned: timerPlan.queue,
      ...defined({ encryptionKey }),
    });
    const timer = this.functionOf('Timer', timerPlan, code.crew(this, timerPlan.folder), props);
    timer.consume(this.timers.queue);
    this.timers.grantSend(timer);
    this.timers.grantSend(this.function);
    crew.drain(this.timers.deadLetterQueue);
    deadLetterAlarm(this.timers, timerPlan.queue.name, this.timers.deadLetterQueue, alarmTopic);
    meshAlarm(this, 'ThrottledAlarm', {
      name: `${timerPlan.queue.name}-throttled`,
      description:
        'Lambda has throttled requests to the gateway for 15 minutes, because a concurrency limit was reached.',
      metric: this.function.metricThrottles({ period: METRIC_PERIOD }),
      threshold: 1,
      periods: 3,
      ...defined({ topic: alarmTopic }),
    });
  }

  get grantPrincipal(): IPrincipal {
    return this.function.role;
  }

  /** Where and with which secret functions report to the gateway. */
  get access(): { readonly url: string; readonly secret: string } {
    return { url: this.reports.url, secret: this.reportSecret };
  }

  /** Lets this function report to the gateway. */
  addReporter(reporter: LambdaFunction): void {
    reporter.addEnvironment('ASYA_GATEWAY_URL', this.access.url);
    reporter.addEnvironment('ASYA_GATEWAY_SECRET', this.access.secret);
  }

  private functionOf(
    id: string,
    plan: FunctionPlan,
    code: FunctionCode,
    props: MeshGatewayProps,
    limits: { readonly reservedConcurrentExecutions?: number } = {},
  ): MeshFunction {
    const { crew, logRetention, removalPolicy, encryptionKey } = props;
    const made = new MeshFunction(this, id, {
      plan,
      code,
      ...limits,
      ...defined({ logRetention, removalPolicy }),
    });
    const { failures, archive } = crew;
    for (const statement of [
      new PolicyStatement({
        actions: ['dynamodb:GetItem', 'dynamodb:PutItem'],
        resources: [failures.tableArn],
      }),
      new PolicyStatement({
        actions: ['dynamodb:Query'],
        resources: QUERIED_INDEXES.map((name) => `${failures.tableArn}/index/${name}`),
      }),
      new PolicyStatement({
        actions: ['s3:GetObject'],
        resources: ARCHIVE_FOLDERS.map((folder) => archive.arnForObjects(`${folder}/*`)),
      }),
      new PolicyStatement({ actions: ['s3:ListBucket'], resources: [archive.bucketArn] }),
    ])
      made.role.addToPolicy(statement);
    grantKey(made, encryptionKey);
    return made;
  }
}

/** The timer's queue and function from `planMesh`, the same as in a local mesh. */
function timerPlanOf(
  settings: PlanSettings,
  gateway: { readonly url: string; readonly secret: string },
): FunctionPlan & { readonly queue: NonNullable<FunctionPlan['queue']> } {
  const { functions } = planMesh({ actors: [], flows: [] }, { ...settings, gateway });
  const plan = functions.find(({ actor }) => actor === GATEWAY);
  if (plan?.queue === undefined) throw new Error('asya: the plan of the gateway has no queue');
  return { ...plan, queue: plan.queue };
}
