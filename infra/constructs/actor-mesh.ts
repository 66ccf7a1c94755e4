import { ArnFormat, Stack } from 'aws-cdk-lib';
import { Grant, type IGrantable, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { Topic } from 'aws-cdk-lib/aws-sns';
import { EmailSubscription } from 'aws-cdk-lib/aws-sns-subscriptions';
import { Construct } from 'constructs';
import { handlerCheckIn } from '../../lib/assembly/mesh/check-handler.ts';
import type { HandlerCheck } from '../../lib/config/manifest/actor-document.ts';
import { actorFromOptions } from '../../lib/config/manifest/actor-from-options.ts';
import { TIMEOUT_TOO_SHORT } from '../../lib/config/manifest/flow-document.ts';
import { shortestFlowTimeouts } from '../../lib/config/manifest/flow-timeouts.ts';
import type { ActorSpec, Manifest } from '../../lib/config/manifest/manifest.ts';
import type { ActorPlan, PlanSettings } from '../../lib/config/plan/function-plan.ts';
import { lambdaEnvironment } from '../../lib/config/plan/lambda-environment.ts';
import { actorMistakes, lambdaMistakes, meshMistakes } from '../../lib/config/plan/lambda-limits.ts';
import { planMesh } from '../../lib/config/plan/mesh-plan.ts';
import { settingsMistakes } from '../../lib/config/plan/settings-limits.ts';
import { queueName } from '../../lib/config/settings/queue-name.ts';
import type { Flow } from '../../lib/core/task/flow.ts';
import { defined } from '../../lib/core/text/defined.ts';
import { describeValue } from '../../lib/core/text/describe-value.ts';
import { type Mistake, mistakesText } from '../../lib/core/text/mistake.ts';
import { bundledCode } from '../code/bundled-code.ts';
import type { MeshCode } from '../code/mesh-code.ts';
import { Actor } from './actor.ts';
import { type ActorMeshProps, settingsOf } from './actor-mesh-props.ts';
import { type ActorOptions, type FlowOptions, specOf } from './actor-options.ts';
import { Crew } from './crew.ts';
import { MeshBuckets } from './mesh-buckets.ts';
import { MeshDashboard } from './mesh-dashboard.ts';
import { type GatewayOptions, MeshGateway } from './mesh-gateway.ts';
import { SEND_ACTIONS } from './mesh-queue.ts';

/**
 * A mesh: the crew, the actors, and optionally a gateway. Each actor may send only to the queues that its flows and
 * policies need. Actors and flows come from a manifest, or are declared in code:
 *
 * ```ts
 * const mesh = new ActorMesh(stack, 'Mesh', { namespace: 'dev-hello' });
 * mesh.addActor('score', { handler: 'score.ts.score' });
 * mesh.addFlow('main', { entrypoint: 'score' });
 * ```
 */
export class ActorMesh extends Construct {
  readonly namespace: string;
  /** x-sink, x-sump and x-dlq, with the archive and the failure table. */
  readonly crew: Crew;
  /** SNS topic of all alarms of this mesh. */
  readonly alarmTopic: Topic;
  readonly dashboard: MeshDashboard;
  /** The buckets that actors declare, by name. */
  readonly buckets: MeshBuckets;
  private readonly props: ActorMeshProps;
  private settings: PlanSettings;
  private gateway: MeshGateway | undefined;
  private readonly code: MeshCode;
  /** Undefined if `code` was given: its handlers are not in the folder. */
  private readonly checkHandler: HandlerCheck | undefined;
  private readonly actors = new Map<string, Actor>();
  /** Granted sends as `actor queue`. Edges are only added, so a granted permission stays valid. */
  private readonly granted = new Set<string>();
  /** Grantees of `grantOperate`: actors and a gateway that are added later are granted to them as well. */
  private readonly operators: IGrantable[] = [];
  private readonly flowsOnDashboard = new Set<string>();
  private manifest: Manifest = { actors: [], flows: [] };

  constructor(scope: Construct, id: string, props: ActorMeshProps) {
    super(scope, id);
    const { namespace, manifest, folder = process.cwd() } = props;
    this.props = props;
    this.namespace = namespace;
    const settings = settingsOf(this, props);
    throwIfAny(
      manifest === undefined
        ? settingsMistakes({ ...settings, storage: {} })
        : lambdaMistakes(manifest, { ...settings, storage: {} }),
      `of mesh "${namespace}"`,
    );
    this.code = props.code ?? bundledCode(folder, defined({ sqsClient: props.sqsClient }));
    if (props.code === undefined)
      this.checkHandler = handlerCheckIn(folder, { where: `in ${describeValue(folder)}` });
    this.alarmTopic = alarmTopicOf(this);
    if (props.alarmEmail !== undefined)
      this.alarmTopic.addSubscription(new EmailSubscription(props.alarmEmail));
    this.crew = new Crew(this, 'Crew', {
      settings,
      code: this.code,
      alarmTopic: this.alarmTopic,
      ...pickDefined(props, 'encryptionKey', 'removalPolicy', 'logRetention', 'archiveExpiry'),
    });
    this.settings = { ...settings, storage: this.crew.storage };
    this.buckets = new MeshBuckets(this, 'Buckets', pickDefined(props, 'encryptionKey', 'removalPolicy'));
    this.dashboard = new MeshDashboard(this, 'Monitor', { namespace });
    const { sink, sump } = this.crew;
    this.dashboard.addQueue('x-sink', sink.queue, sink.deadLetterQueue);
    this.dashboard.addQueue('x-sump', sump.queue, sump.deadLetterQueue);
    this.node.addValidation({ validate: () => this.mistakes().map((mistake) => mistakesText([mistake])) });
    if (manifest !== undefined) this.join(manifest.actors, manifest.flows);
  }

  /** Adds an actor with its queue, function and alarms. Actors that it names may be added later. */
  addActor(name: string, options: ActorOptions): Actor {
    const reading = actorFromOptions(name, specOf(options), this.checkHandler, options.labels);
    if ('mistakes' in reading) return throwMistakes(reading.mistakes, `of mesh "${this.namespace}"`);
    throwIfAny(actorMistakes(reading.actor, this.settings), `of mesh "${this.namespace}"`);
    if (this.actors.has(name))
      throw new Error(
        `asya: mesh "${this.namespace}" already has an actor "${name}"; actor names must be unique`,
      );
    this.join([reading.actor], []);
    return this.actor(name);
  }

  /** Adds a flow and allows its actors to send to their successors. */
  addFlow(name: string, { entrypoint, routeNext = [], timeout }: FlowOptions): void {
    if (this.gateway !== undefined)
      throw new Error(
        `asya: flow "${name}" was added after the gateway, which would not offer it; call addGateway() last`,
      );
    const timeoutSeconds = timeout?.toSeconds();
    if (timeoutSeconds === 1) throw new Error(`asya: timeout of flow "${name}" ${TIMEOUT_TOO_SHORT}`);
    this.join([], [{ name, entrypoint, routeNext, ...defined({ timeoutSeconds }) }]);
  }

  /**
   * Adds the gateway, which offers the flows over HTTP, MCP and A2A to callers with a key. It offers only the flows that
   * were added before, so call this last.
   */
  addGateway(options: GatewayOptions = {}): MeshGateway {
    if (this.gateway !== undefined) throw new Error(`asya: mesh "${this.namespace}" already has a gateway`);
    const { manifest, settings, crew } = this;
    const withGateway = { ...settings, gateway: { url: '', secret: '' } };
    throwIfAny(
      manifest.actors.flatMap((spec) => actorMistakes(spec, withGateway, manifest.flows)),
      `of mesh "${this.namespace}"`,
    );
    const gateway = new MeshGateway(this, 'Gateway', {
      ...options,
      manifest,
      settings,
      code: this.code,
      crew,
      alarmTopic: this.alarmTopic,
      ...pickDefined(this.props, 'encryptionKey', 'removalPolicy', 'logRetention'),
    });
    for (const name of new Set(manifest.flows.map(({ entrypoint }) => entrypoint)))
      this.actor(name).grantSend(gateway);
    for (const reporter of [...crew.functions, ...this.actors.values()])
      gateway.addReporter(reporter.function);
    for (const operator of this.operators) gateway.timers.grantLookUp(operator);
    this.dashboard.addGateway(gateway);
    this.gateway = gateway;
    this.settings = { ...settings, gateway: gateway.access };
    return gateway;
  }

  /** Returns the actor with this name. Throws if there is none. */
  actor(name: string): Actor {
    const actor = this.actors.get(name);
    if (actor !== undefined) return actor;
    throw new Error(
      `asya: mesh "${this.namespace}" has no actor "${name}"; its actors are: ${[...this.actors.keys()].join(', ') || 'none'}`,
    );
  }

  /**
   * Allows an operator to run `asya failures`, `asya replay` and `asya purge`: to read and change the failure table and
   * the archive, and to send to every actor of the mesh, to x-sink and to x-sump. Actors that are added later are
   * included.
   */
  grantOperate(grantee: IGrantable): void {
    this.operators.push(grantee);
    this.crew.grantOperate(grantee);
    for (const actor of this.actors.values()) actor.grantSend(grantee);
    // A replay looks up every target before it sends. A dead-lettered timer is not an envelope and is not replayed.
    this.gateway?.timers.grantLookUp(grantee);
  }

  private join(specs: readonly ActorSpec[], flows: readonly Flow[]): void {
    const { actors, flows: known } = this.manifest;
    this.manifest = { actors: [...actors, ...specs], flows: [...known, ...flows] };
    const plans = new Map(planMesh(this.manifest, this.settings).functions.map((plan) => [plan.actor, plan]));
    for (const spec of specs) this.makeActor(spec, plans.get(spec.name) as ActorPlan);
    for (const actor of this.actors.values()) this.connect(actor, plans.get(actor.actorName) as ActorPlan);
    for (const [name, seconds] of shortestFlowTimeouts(this.manifest))
      this.actors.get(name)?.addFlowTimeout(seconds);
    this.addFlowRows();
  }

  private makeActor(spec: ActorSpec, plan: ActorPlan): void {
    const actor = new Actor(this, `actor-${spec.name}`, {
      plan,
      code: this.code.actor(this, spec, plan),
      alarmTopic: this.alarmTopic,
      ...pickDefined(this.props, 'encryptionKey', 'removalPolicy', 'logRetention'),
    });
    this.actors.set(spec.name, actor);
    this.buckets.grant(actor, spec.access);
    for (const operator of this.operators) actor.grantSend(operator);
    this.crew.drain(actor.deadLetterQueue);
    this.dashboard.addActor(actor);
  }

  /** Grants the sends of the plan to queues that already exist, and updates the sidecar's environment. */
  private connect(actor: Actor, plan: ActorPlan): void {
    const { resiliency } = plan.config.actor;
    const escalations = new Set(
      [...resiliency.policies.values()].flatMap(({ onExhausted }) =>
        onExhausted.action === 'escalate' ? [onExhausted.topic] : [],
      ),
    );
    for (const queue of plan.sendsTo) {
      const edge = `${actor.actorName} ${queue}`;
      if (this.granted.has(edge)) continue;
      const target = this.queueNamed(queue);
      if (target !== undefined) target.grantSend(actor.function);
      else if (escalations.has(queue)) this.grantSendByName(actor.function, queue);
      else continue;
      this.granted.add(edge);
    }
    for (const [name, value] of Object.entries(lambdaEnvironment(plan).variables))
      actor.function.addEnvironment(name, value);
  }

  private queueNamed(name: string): { grantSend(grantee: IGrantable): Grant } | undefined {
    if (name === queueName('x-sink', this.namespace)) return this.crew.sink;
    return [...this.actors.values()].find(({ plan }) => plan.queue?.name === name);
  }

  /** For a queue to escalate to, which exists outside this mesh in the same account and region. */
  private grantSendByName(grantee: IGrantable, resource: string): void {
    const arn = Stack.of(this).formatArn({ service: 'sqs', resource, arnFormat: ArnFormat.NO_RESOURCE_NAME });
    Grant.addToPrincipal({ grantee, actions: [...SEND_ACTIONS], resourceArns: [arn] });
  }

  /** Adds a dashboard row for each flow once all its actors exist. */
  private addFlowRows(): void {
    for (const flow of this.manifest.flows) {
      const names = [...new Set([flow.entrypoint, ...flow.routeNext])];
      const actors = names.flatMap((name) => this.actors.get(name) ?? []);
      if (this.flowsOnDashboard.has(flow.name) || actors.length < names.length) continue;
      this.flowsOnDashboard.add(flow.name);
      this.dashboard.addFlow(flow, actors);
    }
  }

  private mistakes(): readonly Mistake[] {
    const { manifest, settings } = this;
    return [
      ...meshMistakes(manifest, settings),
      ...manifest.actors.flatMap((spec) => actorMistakes(spec, settings, manifest.flows)),
    ];
  }
}

/** `enforceSSL` adds a topic policy, which replaces the default one. So CloudWatch needs an explicit grant to publish. */
function alarmTopicOf(scope: Construct): Topic {
  const topic = new Topic(scope, 'Alarms', { enforceSSL: true });
  const conditions = { StringEquals: { 'aws:SourceAccount': Stack.of(scope).account } };
  topic.grantPublish(new ServicePrincipal('cloudwatch.amazonaws.com', { conditions }));
  return topic;
}

function throwIfAny(mistakes: readonly Mistake[], where: string): void {
  if (mistakes.length > 0) throwMistakes(mistakes, where);
}

/** Throws one error that lists all mistakes. */
function throwMistakes(mistakes: readonly Mistake[], where: string): never {
  const count = mistakes.length === 1 ? '1 mistake' : `${mistakes.length} mistakes`;
  throw new Error(
    `asya: ${count} in the deployment ${where}\n${mistakesText(mistakes).replace(/^/gm, '  ')}`,
  );
}

/** The given properties, without those that are undefined. */
function pickDefined<Props extends object, Key extends keyof Props>(
  props: Props,
  ...keys: readonly Key[]
): { [K in Key]?: Exclude<Props[K], undefined> } {
  return Object.fromEntries(
    keys.flatMap((key) => (props[key] === undefined ? [] : [[key, props[key]]])),
  ) as never;
}
