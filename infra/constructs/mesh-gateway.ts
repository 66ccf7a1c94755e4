import { SecretValue } from 'aws-cdk-lib';
import { type IGrantable, type IPrincipal, PolicyStatement } from 'aws-cdk-lib/aws-iam';
import { FunctionUrlAuthType, InvokeMode, type Function as LambdaFunction } from 'aws-cdk-lib/aws-lambda';
import { type ISecret, Secret } from 'aws-cdk-lib/aws-secretsmanager';
import { Construct } from 'constructs';
import type { Manifest } from '../../lib/config/manifest/manifest.ts';
import { type FailureTableIndex, IDEMPOTENCY_PREFIX } from '../../lib/config/plan/failure-table.ts';
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

/** Tokens (JWT) of one issuer, for one audience. */
export interface GatewayTokens {
  readonly issuer: string;
  readonly audience: string;
  /** Where the issuer's public keys are. */
  readonly jwksUrl: string;
}

export interface GatewayOptions {
  /**
   * A secret that holds the keys of those who may call, as `ASYA_GATEWAY_KEYS` takes them: only their hashes.
   * @default one is made that lets nobody in; fill it, and deploy again with its `keysVersion`
   */
  readonly keys?: ISecret;
  /**
   * The version of that secret, by its `VersionId`. CloudFormation reads a secret only when the reference to it changes,
   * so this is how keys that were put in later reach the gateway.
   * @default the newest at the time that the function is changed next
   */
  readonly keysVersion?: string;
  /**
   * Whose tokens are taken beside keys.
   * @default nobody's
   */
  readonly tokens?: GatewayTokens;
  /**
   * Web pages that may call by MCP, as origins.
   * @default none; programs that are no browsers always may
   */
  readonly origins?: readonly string[];
  /**
   * The most requests of callers at once, streams included, each of which is an invocation for as long as it lasts. Set
   * aside from the account's concurrency, of which Lambda wants 100 left for all other functions.
   * @default as many as the account has left, so that callers can leave none to reports and actors
   */
  readonly callersAtOnce?: number;
}

/** Whose tasks there are, and the ends of an envelope. */
const ASKED_INDEXES: readonly FailureTableIndex[] = ['by-owner', 'by-envelope'];

/** As Secrets Manager calls versions. */
const VERSION_ID = /^[\w-]{32,64}$/;

export interface MeshGatewayProps extends GatewayOptions, GatewayFunctionsProps {
  readonly manifest: Manifest;
}

/** Flows over a function URL that streams, with timers that outlive whoever set them. Default deny: no key, no call. */
export class MeshGateway extends Construct implements IGrantable {
  readonly url: string;
  readonly keys: ISecret;
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
        `asya: the version of the gateway's keys is ${describeValue(keysVersion)}; it takes the VersionId that put-secret-value told`,
      );
    const kept = defined({ encryptionKey, removalPolicy: props.removalPolicy });
    const reportSecret = new Secret(this, 'Reports', {
      description: 'What the functions of the mesh sign their reports with',
      generateSecretString: { excludePunctuation: true, passwordLength: 48 },
      ...kept,
    });
    this.reportSecret = reportSecret.secretValue.unsafeUnwrap();
    this.callersAtOnce = props.callersAtOnce;
    this.keys =
      props.keys ??
      (new Secret(this, 'Keys', {
        description: 'Who may call: [{"id":"...","sha256":"..."}]; an empty list lets nobody in',
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
      defined({ mostAtOnce: props.callersAtOnce }),
    );
    // The key of a request, to confirm it or to let go of it; no task and no failure.
    this.function.role.addToPolicy(
      new PolicyStatement({
        actions: ['dynamodb:UpdateItem'],
        resources: [crew.failures.tableArn],
        conditions: { 'ForAllValues:StringLike': { 'dynamodb:LeadingKeys': [`${IDEMPOTENCY_PREFIX}*`] } },
      }),
    );
    this.url = this.function.function.addFunctionUrl({
      // Who calls is checked by the gateway itself: keys and tokens, not AWS identities.
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
      description: 'Lambda refuses callers: more of them are under way at once than may be.',
      metric: this.function.metricThrottles({ period: METRIC_PERIOD }),
      threshold: 1,
      periods: 3,
      ...defined({ topic: alarmTopic }),
    });
  }

  get grantPrincipal(): IPrincipal {
    return this.function.role;
  }

  /** What those who report are told. */
  get access(): { readonly url: string; readonly secret: string } {
    return { url: this.reports.url, secret: this.reportSecret };
  }

  /** From now on this function reports to it. */
  tellReports(reporter: LambdaFunction): void {
    reporter.addEnvironment('ASYA_GATEWAY_URL', this.access.url);
    reporter.addEnvironment('ASYA_GATEWAY_SECRET', this.access.secret);
  }

  private functionOf(
    id: string,
    plan: FunctionPlan,
    code: FunctionCode,
    props: MeshGatewayProps,
    bounds: { readonly mostAtOnce?: number } = {},
  ): MeshFunction {
    const { crew, logRetention, removalPolicy, encryptionKey } = props;
    const made = new MeshFunction(this, id, {
      plan,
      code,
      ...bounds,
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
        resources: ASKED_INDEXES.map((name) => `${failures.tableArn}/index/${name}`),
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

/** As the mesh plans it: the same queue and function as on one machine. */
function timerPlanOf(
  settings: PlanSettings,
  gateway: { readonly url: string; readonly secret: string },
): FunctionPlan & { readonly queue: NonNullable<FunctionPlan['queue']> } {
  const { functions } = planMesh({ actors: [], flows: [] }, { ...settings, gateway });
  const plan = functions.find(({ actor }) => actor === GATEWAY);
  if (plan?.queue === undefined) throw new Error('asya: the gateway is planned without a queue');
  return { ...plan, queue: plan.queue };
}
