import type { Flow } from '../../core/task/flow.ts';
import { describeValue } from '../../core/text/describe-value.ts';
import { durationText } from '../../core/text/duration.ts';
import { type Mistake, type MistakeCollector, mistakeCollector } from '../../core/text/mistake.ts';
import { suggestion } from '../../core/text/nearest.ts';
import { bucketVariable, hasPermissions } from '../manifest/access.ts';
import { languageOf } from '../manifest/handler-name.ts';
import type { ActorSpec, Manifest } from '../manifest/manifest.ts';
import { isOnThisMachine } from '../settings/addresses.ts';
import { RUNTIME } from '../settings/groups/runtime.ts';
import { deadLetterQueueName, MAX_QUEUE_NAME, queueName } from '../settings/queue-name.ts';
import { CREW } from './crew-plan.ts';
import { edgesOf } from './edges.ts';
import { MAX_ACTOR_TIMEOUT_MS, type PlanSettings } from './function-plan.ts';
import { GATEWAY } from './gateway-plan.ts';
import { environmentBytes, lambdaEnvironment, MAX_ENVIRONMENT_BYTES } from './lambda-environment.ts';
import { maxHoldSeconds, planMesh, visibilityOf } from './mesh-plan.ts';
import { MIN_REPLICAS, secondsText, settingsMistakes } from './settings-limits.ts';

/** Reports everything that SQS and Lambda would reject, or would do differently from what the mesh declares. */
export function lambdaMistakes(manifest: Manifest, settings: PlanSettings): readonly Mistake[] {
  return [
    ...settingsMistakes(settings),
    ...manifest.actors.flatMap((spec) => actorMistakes(spec, settings, manifest.flows)),
    ...meshMistakes(manifest, settings),
  ];
}

/** Mistakes of a single actor. */
export function actorMistakes(
  spec: ActorSpec,
  settings: PlanSettings,
  flows: readonly Flow[] = [],
): readonly Mistake[] {
  const mistakes: Mistake[] = [];
  const notes = mistakeCollector(mistakes, `${placeOf(spec)} spec`);
  checkName(spec, settings.namespace, mistakeCollector(mistakes, placeOf(spec)));
  checkTimes(spec, notes.at('resiliency'));
  checkReplicas(spec, notes.at('scaling'));
  checkRuntime(spec, notes);
  checkEnvironment(spec, bytesOf(spec, flows, settings), notes.at('environment'));
  return mistakes;
}

/** Mistakes between actors: queue names that collide, and references to unknown actors. */
export function meshMistakes(manifest: Manifest, settings: PlanSettings): readonly Mistake[] {
  const { namespace } = settings;
  const mistakes: Mistake[] = [];
  checkQueueNames(manifest.actors, namespace, mistakes);
  const names = new Set(manifest.actors.map(({ name }) => name));
  const checkExists = (name: string, notes: MistakeCollector) => {
    if (!names.has(name))
      notes.add(`is ${describeValue(name)}, which is not an actor of this mesh${suggestion(name, names)}`);
  };
  const flows = new Set<string>();
  for (const { name, entrypoint, routeNext } of manifest.flows) {
    const notes = mistakeCollector(mistakes, `flow "${name}"`);
    if (flows.has(name)) notes.add('is defined twice; rename one of them');
    flows.add(name);
    checkExists(entrypoint, notes.at('entrypoint'));
    for (const [index, next] of routeNext.entries()) checkExists(next, notes.at('route_next').at(index));
  }
  const edges = edgesOf({ ...manifest, flows: [] });
  for (const spec of manifest.actors) {
    const notes = mistakeCollector(mistakes, `${placeOf(spec)} spec`);
    for (const [index, next] of spec.next.entries()) checkExists(next, notes.at('next').at(index));
    const { errorActors = [], escalations = [] } = edges.get(spec.name) ?? {};
    for (const name of errorActors) checkExists(name, notes.at('resiliency'));
    for (const topic of escalations)
      checkTopic(topic, ownQueues(names, namespace), notes.at('resiliency').at('policies'));
  }
  return mistakes;
}

/** Queues that no policy may escalate to: those of the crew and the gateway, and every dead-letter queue. */
function ownQueues(actors: ReadonlySet<string>, namespace: string | undefined): ReadonlySet<string> {
  const own = [...CREW, GATEWAY];
  return new Set([
    ...own.map((name) => queueName(name, namespace)),
    ...[...own, ...actors].map((name) => deadLetterQueueName(queueName(name, namespace))),
  ]);
}

/** The name becomes part of a permission, in which `*` would mean every queue of the account. */
const QUEUE_NAME = new RegExp(`^[\\w-]{1,${MAX_QUEUE_NAME}}$`);

function checkTopic(topic: string, own: ReadonlySet<string>, notes: MistakeCollector): void {
  if (!QUEUE_NAME.test(topic))
    notes.add(
      `escalate to ${describeValue(topic)}, which is not the name of an SQS queue: expected up to ${MAX_QUEUE_NAME} letters, digits, "-" and "_"; FIFO queues are not supported`,
    );
  if (own.has(topic))
    notes.add(
      `escalate to ${describeValue(topic)}, which is a queue of the mesh itself; expected a queue with another consumer`,
    );
}

function placeOf({ name, file }: ActorSpec): string {
  return `${file} "${name}"`;
}

function checkName({ name }: ActorSpec, namespace: string | undefined, notes: MistakeCollector): void {
  const longest = deadLetterQueueName(queueName(name, namespace));
  if (longest.length <= MAX_QUEUE_NAME) return;
  notes.add(
    `makes the queue name "${longest}" ${longest.length} characters long; SQS allows ${MAX_QUEUE_NAME}: ` +
      `shorten the actor's name, the mesh's or the environment's by ${longest.length - MAX_QUEUE_NAME}`,
  );
}

function checkTimes(spec: ActorSpec, notes: MistakeCollector): void {
  const { timeoutMs, visibilitySeconds } = spec;
  if (timeoutMs > MAX_ACTOR_TIMEOUT_MS) {
    notes
      .at('actorTimeout')
      .add(
        `is ${durationText(timeoutMs)}; a call may take at most ${durationText(MAX_ACTOR_TIMEOUT_MS)} on Lambda, which stops a function after 15m: ` +
          'split the work into several actors, or run this one as a long-running worker (`asya sidecar`)',
      );
    return;
  }
  const held = maxHoldSeconds(spec);
  if (visibilitySeconds !== undefined && visibilitySeconds < held) {
    const { visibilitySeconds: _given, ...without } = spec;
    const derived = visibilityOf(without);
    notes
      .at('visibilityTimeout')
      .add(
        `is ${secondsText(visibilitySeconds)}, but the function may hold a message for ${secondsText(held)}, and Lambda rejects such an event source; ` +
          `omit it for ${secondsText(derived)}, or set ${secondsText(held)} or more`,
      );
  }
}

function checkReplicas({ scaling }: ActorSpec, notes: MistakeCollector): void {
  const { maxReplicas, batchSize, batchWindowSeconds } = scaling;
  if (maxReplicas < MIN_REPLICAS) {
    notes
      .at('maxReplicas')
      .add(
        `is ${maxReplicas}; a Lambda event source needs at least ${MIN_REPLICAS}, and a limit by reserved concurrency would throttle polls until messages are dead-lettered: ` +
          'set 2 and make the handler safe for two calls at once (a conditional write, a lock), or run this actor as one long-running worker (`asya sidecar`)',
      );
  }
  if (batchSize > 10 && batchWindowSeconds === 0)
    notes.at('batchSize').add(`is ${batchSize}; more than 10 needs a batchWindow of "1s" or more`);
}

function checkRuntime({ runtime }: ActorSpec, notes: MistakeCollector): void {
  if (runtime.kind === 'url' && isOnThisMachine(runtime.url)) {
    notes
      .at('url')
      .add(
        `is ${describeValue(runtime.url)}; nothing listens there inside a Lambda function; use an address that the function can reach, or a handler or an image`,
      );
  }
  if (runtime.kind === 'image' && languageOf(runtime.handler ?? '') === undefined) {
    notes
      .at('handler')
      .add(
        runtime.handler === undefined
          ? 'is missing; on Lambda the sidecar is the image\'s entry point and starts the handler itself: name it, "score.score" for Python or "score.ts.score" for Node, from the image\'s working folder'
          : `is ${describeValue(runtime.handler)}; on Lambda, expected module.function for Python or FILE.FUNCTION for Node`,
      );
  }
}

/** Variables that Lambda reserves. */
const RESERVED =
  /^(_HANDLER|_X_AMZN_TRACE_ID|AWS_(DEFAULT_REGION|REGION|EXECUTION_ENV|LAMBDA_.*|ACCESS_KEY|ACCESS_KEY_ID|SECRET_ACCESS_KEY|SESSION_TOKEN)|LAMBDA_(TASK_ROOT|RUNTIME_DIR))$/;

function checkEnvironment(spec: ActorSpec, bytes: number, notes: MistakeCollector): void {
  for (const name of Object.keys(spec.environment)) {
    if (RESERVED.test(name)) notes.at(name).add('is reserved by Lambda; choose another name');
    else if (!/^[A-Za-z][A-Za-z0-9_]+$/.test(name))
      notes.at(name).add('is not valid on Lambda; expected a letter, then at least one letter, digit or "_"');
    else if (name === 'POWERTOOLS_SERVICE_NAME')
      notes
        .at(name)
        .add('is set by the mesh: it separates the metrics of different meshes; choose another name');
  }
  if (bytes > MAX_ENVIRONMENT_BYTES) {
    notes.add(
      `makes an environment of ${bytes} bytes, including the sidecar's variables; Lambda allows ${MAX_ENVIRONMENT_BYTES} in total: put long values into a file that the handler imports`,
    );
  }
}

/** Values of the final length: during synthesis only placeholder tokens are known. */
const GATEWAY_ACCESS = {
  ASYA_GATEWAY_URL: `https://${'u'.repeat(32)}.lambda-url.ap-southeast-99.on.aws/`,
  ASYA_GATEWAY_SECRET: 's'.repeat(48),
} as const;

/** The variables that a deployment adds for `permissions` and `buckets`, with values of the maximum length. */
function accessVariables({ access }: ActorSpec): Record<string, string> {
  const buckets = access?.buckets.map((name) => [bucketVariable(name), 'b'.repeat(63)]) ?? [];
  return {
    ...Object.fromEntries(buckets),
    ...(hasPermissions(access) && { [RUNTIME.roleArn.variable]: 'r'.repeat(31 + 64) }),
  };
}

/** Plans without the namespace, because names that are too long with it were reported before. */
function bytesOf(spec: ActorSpec, flows: readonly Flow[], settings: PlanSettings): number {
  const { namespace = '', ...others } = settings;
  const [plan] = planMesh({ actors: [spec], flows }, others).functions;
  if (plan === undefined) return 0;
  const { variables } = lambdaEnvironment(plan);
  return environmentBytes({
    ...variables,
    ASYA_NAMESPACE: namespace,
    POWERTOOLS_SERVICE_NAME: namespace,
    ...accessVariables(spec),
    ...(settings.gateway === undefined ? {} : GATEWAY_ACCESS),
  });
}

/** `score-dlq` is the dead-letter queue of `score`, so no actor can have this name. */
function checkQueueNames(
  actors: readonly ActorSpec[],
  namespace: string | undefined,
  mistakes: Mistake[],
): void {
  const owners = new Map<string, string>();
  const own = (queue: string, owner: string, notes: MistakeCollector) => {
    const other = owners.get(queue);
    if (other === undefined) owners.set(queue, owner);
    else notes.add(`makes the queue "${queue}", which is ${other}; rename the actor`);
  };
  for (const name of CREW) {
    own(queueName(name, namespace), `the queue of ${name}`, mistakeCollector(mistakes, name));
    own(
      deadLetterQueueName(queueName(name, namespace)),
      `the dead-letter queue of ${name}`,
      mistakeCollector(mistakes, name),
    );
  }
  for (const spec of actors) {
    const notes = mistakeCollector(mistakes, placeOf(spec));
    own(queueName(spec.name, namespace), `the queue of "${spec.name}"`, notes);
    own(
      deadLetterQueueName(queueName(spec.name, namespace)),
      `the dead-letter queue of "${spec.name}"`,
      notes,
    );
  }
}
