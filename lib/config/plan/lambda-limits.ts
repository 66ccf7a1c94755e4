import type { Flow } from '../../core/task/flow.ts';
import { describeValue } from '../../core/text/describe-value.ts';
import { durationText } from '../../core/text/duration.ts';
import { type Mistake, type MistakeCollector, mistakeCollector } from '../../core/text/mistake.ts';
import { suggestion } from '../../core/text/nearest.ts';
import { languageOf } from '../manifest/handler-name.ts';
import type { ActorSpec, Manifest } from '../manifest/manifest.ts';
import { isOnThisMachine } from '../settings/addresses.ts';
import { namespace as namespaceKind } from '../settings/kinds.ts';
import { deadLetterQueueName, MAX_QUEUE_NAME, queueName } from '../settings/queue-name.ts';
import { CREW } from './crew-plan.ts';
import { edgesOf } from './edges.ts';
import { MAX_ACTOR_TIMEOUT_MS, type PlanSettings } from './function-plan.ts';
import { GATEWAY } from './gateway-plan.ts';
import { environmentBytes, lambdaEnvironment, MAX_ENVIRONMENT_BYTES } from './lambda-environment.ts';
import { heldSeconds, planMesh, visibilityOf } from './mesh-plan.ts';
import { MAX_RETENTION_SECONDS, MIN_RECEIVE_COUNT, queuePlan } from './queue-plan.ts';

/** An event source for SQS takes no lower `MaximumConcurrency`. */
const MIN_REPLICAS = 2;

/** What SQS takes. */
const MAX_RECEIVES = 1_000;
const MIN_RETENTION_SECONDS = 60;

/** Everything that SQS and Lambda would refuse, or do otherwise than the mesh says. All of it at once. */
export function lambdaMistakes(manifest: Manifest, settings: PlanSettings): readonly Mistake[] {
  return [
    ...settingsMistakes(settings),
    ...manifest.actors.flatMap((spec) => actorMistakes(spec, settings, manifest.flows)),
    ...wholeMistakes(manifest, settings),
  ];
}

/** What is wrong for every actor alike. */
export function settingsMistakes({ namespace, queues, mostReplicas }: PlanSettings): readonly Mistake[] {
  const mistakes: Mistake[] = [];
  const notes = mistakeCollector(mistakes, '');
  const reading = namespace === undefined ? undefined : namespaceKind.read(namespace);
  if (reading !== undefined && 'problem' in reading)
    notes.at('namespace').add(`is ${describeValue(namespace)}; ${reading.problem}`);
  const { maxReceiveCount, retentionSeconds, deadLetterRetentionSeconds } = queuePlan(0, queues);
  if (maxReceiveCount < MIN_RECEIVE_COUNT) {
    notes
      .at('maxReceiveCount')
      .add(
        `is ${maxReceiveCount}; polls that Lambda throttles count as receives too, and would dead-letter what never failed; give ${MIN_RECEIVE_COUNT} or more`,
      );
  } else if (!Number.isInteger(maxReceiveCount) || maxReceiveCount > MAX_RECEIVES) {
    notes
      .at('maxReceiveCount')
      .add(
        `is ${maxReceiveCount}; SQS takes a whole number, from ${MIN_RECEIVE_COUNT} here to ${MAX_RECEIVES}`,
      );
  }
  if (retentionSeconds < MIN_RETENTION_SECONDS)
    notes
      .at('retention')
      .add(
        `is ${secondsText(retentionSeconds)}; SQS keeps messages for ${secondsText(MIN_RETENTION_SECONDS)} at the least`,
      );
  if (deadLetterRetentionSeconds <= retentionSeconds) {
    notes
      .at('deadLetterRetention')
      .add(
        `is ${secondsText(deadLetterRetentionSeconds)}, and the queues keep ${secondsText(retentionSeconds)}: what is dead-lettered keeps its age and could be gone at once; give more, up to ${secondsText(MAX_RETENTION_SECONDS)}, or lower the queues' retention`,
      );
  } else if (deadLetterRetentionSeconds > MAX_RETENTION_SECONDS) {
    notes
      .at('deadLetterRetention')
      .add(
        `is ${secondsText(deadLetterRetentionSeconds)}; SQS keeps nothing longer than ${secondsText(MAX_RETENTION_SECONDS)}`,
      );
  }
  if (mostReplicas !== undefined && mostReplicas < MIN_REPLICAS)
    notes
      .at('concurrency')
      .add(
        `is ${mostReplicas}; an event source starts at ${MIN_REPLICAS} copies; give ${MIN_REPLICAS} or more`,
      );
  return mistakes;
}

/** What is wrong with one actor by itself. */
export function actorMistakes(
  spec: ActorSpec,
  settings: PlanSettings,
  flows: readonly Flow[] = [],
): readonly Mistake[] {
  const mistakes: Mistake[] = [];
  const notes = mistakeCollector(mistakes, `${placeOf(spec)} spec`);
  noteName(spec, settings.namespace, mistakeCollector(mistakes, placeOf(spec)));
  noteTimes(spec, notes.at('resiliency'));
  noteReplicas(spec, notes.at('scaling'));
  noteRuntime(spec, notes);
  noteEnvironment(spec, bytesOf(spec, flows, settings), notes.at('environment'));
  return mistakes;
}

/** What is wrong between actors: names that meet, and names of nobody. */
export function wholeMistakes(manifest: Manifest, settings: PlanSettings): readonly Mistake[] {
  const { namespace } = settings;
  const mistakes: Mistake[] = [];
  noteSameNames(manifest.actors, namespace, mistakes);
  const names = new Set(manifest.actors.map(({ name }) => name));
  const noteMissing = (name: string, notes: MistakeCollector) => {
    if (!names.has(name))
      notes.add(`is ${describeValue(name)}, no actor of this mesh${suggestion(name, names)}`);
  };
  const flows = new Set<string>();
  for (const { name, entrypoint, routeNext } of manifest.flows) {
    const notes = mistakeCollector(mistakes, `flow "${name}"`);
    if (flows.has(name)) notes.add('is there twice; give one of the two another name');
    flows.add(name);
    noteMissing(entrypoint, notes.at('entrypoint'));
    for (const [index, next] of routeNext.entries()) noteMissing(next, notes.at('route_next').at(index));
  }
  const edges = edgesOf({ ...manifest, flows: [] });
  for (const spec of manifest.actors) {
    const notes = mistakeCollector(mistakes, `${placeOf(spec)} spec`);
    for (const [index, next] of spec.next.entries()) noteMissing(next, notes.at('next').at(index));
    const { rescuers = [], escalations = [] } = edges.get(spec.name) ?? {};
    for (const name of rescuers) noteMissing(name, notes.at('resiliency'));
    for (const topic of escalations)
      noteTopic(topic, ownQueues(names, namespace), notes.at('resiliency').at('policies'));
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

/** A permission is made of it, in which a `*` would mean every queue of the account. */
const QUEUE_NAME = new RegExp(`^[\\w-]{1,${MAX_QUEUE_NAME}}$`);

function noteTopic(topic: string, own: ReadonlySet<string>, notes: MistakeCollector): void {
  if (!QUEUE_NAME.test(topic))
    notes.add(
      `escalate to ${describeValue(topic)}, no name of a queue on SQS: it takes up to ${MAX_QUEUE_NAME} letters, digits, "-" and "_", and no FIFO queue`,
    );
  if (own.has(topic))
    notes.add(
      `escalate to ${describeValue(topic)}, a queue of the mesh's own; name one that somebody else reads`,
    );
}

function placeOf({ name, file }: ActorSpec): string {
  return `${file} "${name}"`;
}

function noteName({ name }: ActorSpec, namespace: string | undefined, notes: MistakeCollector): void {
  const longest = deadLetterQueueName(queueName(name, namespace));
  if (longest.length <= MAX_QUEUE_NAME) return;
  notes.add(
    `makes a queue's name of ${longest.length} characters, "${longest}"; SQS takes ${MAX_QUEUE_NAME}: ` +
      `shorten the actor's name, the mesh's or the environment's by ${longest.length - MAX_QUEUE_NAME}`,
  );
}

function noteTimes(spec: ActorSpec, notes: MistakeCollector): void {
  const { timeoutMs, visibilitySeconds } = spec;
  if (timeoutMs > MAX_ACTOR_TIMEOUT_MS) {
    notes
      .at('actorTimeout')
      .add(
        `is ${durationText(timeoutMs)}; a call may take ${durationText(MAX_ACTOR_TIMEOUT_MS)} on Lambda, which ends a function after 15m: ` +
          'split the work into several actors, or run this one as a long-running worker (`asya sidecar`)',
      );
    return;
  }
  const held = heldSeconds(spec);
  if (visibilitySeconds !== undefined && visibilitySeconds < held) {
    const { visibilitySeconds: _given, ...without } = spec;
    const derived = visibilityOf(without);
    notes
      .at('visibilityTimeout')
      .add(
        `is ${secondsText(visibilitySeconds)}, and the function may hold a message for ${secondsText(held)}: Lambda refuses such an event source; ` +
          `leave it out for ${secondsText(derived)}, or give ${secondsText(held)} or more`,
      );
  }
}

function noteReplicas({ scaling }: ActorSpec, notes: MistakeCollector): void {
  const { maxReplicas, batchSize, batchWindowSeconds } = scaling;
  if (maxReplicas < MIN_REPLICAS) {
    notes
      .at('maxReplicas')
      .add(
        `is ${maxReplicas}; an event source of Lambda starts at ${MIN_REPLICAS}, and fewer by reserved concurrency would throttle polls into the dead-letter queue: ` +
          'write 2 and make the handler safe for two at once (a conditional write, a lock), or run this actor as one long-running worker (`asya sidecar`)',
      );
  }
  if (batchSize > 10 && batchWindowSeconds === 0)
    notes.at('batchSize').add(`is ${batchSize}; more than 10 needs a batchWindow of "1s" or more`);
}

function noteRuntime({ runtime }: ActorSpec, notes: MistakeCollector): void {
  if (runtime.kind === 'url' && isOnThisMachine(runtime.url)) {
    notes
      .at('url')
      .add(
        `is ${describeValue(runtime.url)}; nobody listens there inside a Lambda function: name an address that it can reach, or give a handler or an image`,
      );
  }
  if (runtime.kind === 'image' && languageOf(runtime.handler ?? '') === undefined) {
    notes
      .at('handler')
      .add(
        runtime.handler === undefined
          ? 'is missing; on Lambda the sidecar is the image\'s entry point and starts the handler itself: name it, "score.score" for Python or "score.ts.score" for Node, from the image\'s working folder'
          : `is ${describeValue(runtime.handler)}; on Lambda it takes module.function for Python or FILE.FUNCTION for Node`,
      );
  }
}

/** What Lambda keeps for itself. */
const RESERVED =
  /^(_HANDLER|_X_AMZN_TRACE_ID|AWS_(DEFAULT_REGION|REGION|EXECUTION_ENV|LAMBDA_.*|ACCESS_KEY|ACCESS_KEY_ID|SECRET_ACCESS_KEY|SESSION_TOKEN)|LAMBDA_(TASK_ROOT|RUNTIME_DIR))$/;

function noteEnvironment(spec: ActorSpec, bytes: number, notes: MistakeCollector): void {
  for (const name of Object.keys(spec.environment)) {
    if (RESERVED.test(name)) notes.at(name).add('is a name that Lambda keeps for itself; choose another');
    else if (!/^[A-Za-z][A-Za-z0-9_]+$/.test(name))
      notes.at(name).add('is no name for Lambda: a letter, then at least one letter, digit or "_"');
    else if (name === 'POWERTOOLS_SERVICE_NAME')
      notes.at(name).add('is set by the mesh: it keeps the metrics of two meshes apart; choose another name');
  }
  if (bytes > MAX_ENVIRONMENT_BYTES) {
    notes.add(
      `makes an environment of ${bytes} bytes with the sidecar's own; Lambda takes ${MAX_ENVIRONMENT_BYTES} in all: put long values into a file that the handler imports`,
    );
  }
}

/** Of the length that they will have: what is known of them when a mesh is synthesised is a word for each. */
const GATEWAY_ACCESS = {
  ASYA_GATEWAY_URL: `https://${'u'.repeat(32)}.lambda-url.ap-southeast-99.on.aws/`,
  ASYA_GATEWAY_SECRET: 's'.repeat(48),
} as const;

/** In a short namespace, because one that makes names too long is told already. */
function bytesOf(spec: ActorSpec, flows: readonly Flow[], settings: PlanSettings): number {
  const { namespace = '', ...others } = settings;
  const [plan] = planMesh({ actors: [spec], flows }, others).functions;
  if (plan === undefined) return 0;
  const { variables } = lambdaEnvironment(plan);
  return environmentBytes({
    ...variables,
    ASYA_NAMESPACE: namespace,
    POWERTOOLS_SERVICE_NAME: namespace,
    ...(settings.gateway === undefined ? {} : GATEWAY_ACCESS),
  });
}

/** `score-dlq` is the dead-letter queue of `score`, and can be nobody else's. */
function noteSameNames(
  actors: readonly ActorSpec[],
  namespace: string | undefined,
  mistakes: Mistake[],
): void {
  const owners = new Map<string, string>();
  const own = (queue: string, owner: string, notes: MistakeCollector) => {
    const other = owners.get(queue);
    if (other === undefined) owners.set(queue, owner);
    else notes.add(`makes the queue "${queue}", which is ${other}; give the actor another name`);
  };
  for (const name of CREW) {
    own(queueName(name, namespace), `the mesh's own ${name}`, mistakeCollector(mistakes, name));
    own(
      deadLetterQueueName(queueName(name, namespace)),
      `the dead letters of ${name}`,
      mistakeCollector(mistakes, name),
    );
  }
  for (const spec of actors) {
    const notes = mistakeCollector(mistakes, placeOf(spec));
    own(queueName(spec.name, namespace), `the queue of "${spec.name}"`, notes);
    own(deadLetterQueueName(queueName(spec.name, namespace)), `the dead letters of "${spec.name}"`, notes);
  }
}

function secondsText(seconds: number): string {
  return durationText(seconds * 1000);
}
