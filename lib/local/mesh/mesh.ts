import { dirname, resolve } from 'node:path';
import type { QueueDepths } from '../../adapters/sqs/queue-depths.ts';
import type { GatewayAccess } from '../../assembly/mesh/running-mesh.ts';
import type { ActorSpec, Manifest } from '../../config/manifest/manifest.ts';
import type { FunctionPlan } from '../../config/plan/function-plan.ts';
import { GATEWAY } from '../../config/plan/gateway-plan.ts';
import { planMesh } from '../../config/plan/mesh-plan.ts';
import type { Environment } from '../../config/settings/variables.ts';
import type { Flow } from '../../core/task/flow.ts';
import { defined } from '../../core/text/defined.ts';
import type { Inspection } from '../debugger/inspection.ts';
import { type Engines, LOCAL_REGION, startEngines } from '../engines/engines.ts';
import { ensureBuckets, ensureStores } from '../engines/local-stores.ts';
import { ARCHIVE_BUCKET, FAILURE_TABLE_NAME } from '../engines/store-names.ts';
import type { BatchReport } from '../functions/event-source.ts';
import type { ActorRunner } from './actor-runner.ts';
import { localHandlerAccess } from './handler-access.ts';
import { type LocalGateway, type LocalGatewayOptions, startLocalGateway } from './local-gateway.ts';
import type { MeshBroker } from './mesh-broker.ts';
import { meshDepths } from './mesh-depths.ts';
import { type InspectedActor, inspectionOf, openInspections } from './mesh-inspections.ts';
import { type MeshPythons, meshPythons } from './mesh-pythons.ts';
import { meshSecrets } from './mesh-secrets.ts';
import { needsRestart } from './needs-restart.ts';
import { startPubsubBroker } from './pubsub-broker.ts';
import { runtimeCommand } from './runtime-command.ts';
import { openSocketFolder, type SocketFolder } from './socket-folder.ts';
import { sqsBroker } from './sqs-broker.ts';

/** A mesh that runs on this machine. */
export interface LocalMesh {
  /** Settings for other processes that access the mesh, such as `asya failures` and `asya send`. */
  readonly variables: Readonly<Record<string, string>>;
  /** Short description of its transport. */
  readonly description: string;
  /** URL and key of the gateway. */
  readonly gateway?: GatewayAccess;
  /** The actors that can be debugged. */
  readonly inspections: readonly Inspection[];
  manifest(): Manifest;
  /** Applies a new manifest. Returns a message for each change. */
  apply(manifest: Manifest): Promise<readonly string[]>;
  /**
   * Reads `.env` again. Actors whose secrets have changed use new instances from now on; actors that waited for a secret
   * start. Returns a message for each change.
   */
  applySecrets(): Promise<readonly string[]>;
  /**
   * Looks for the Python of each actor again, and restarts the actors whose Python is another one. Returns a message for
   * each change.
   */
  applyPython(): Promise<readonly string[]>;
  /** Files that select the Python of the actors. They may not exist. */
  pythonFiles(): readonly string[];
  /** Which Python runs the handlers, one text for each. Empty without handlers in Python. */
  pythons(): readonly string[];
  /** Uses new instances of this actor from now on. */
  renew(actor: string): void;
  /** Differs after the actor was started again, e.g. by `apply`. */
  generation(actor: string): number;
  /**
   * The depths of the queues, in a fixed order: the actors along the flows, the other actors, the crew. Undefined if a
   * queue's depths are not known. Only an actor's retries are delayed: the gateway's timers do not count.
   */
  depths(): Promise<ReadonlyMap<string, QueueDepths | undefined>>;
  pids(): readonly number[];
  /** Finishes deliveries in progress within the grace period, and stops all processes and servers. */
  close(graceMs: number): Promise<void>;
}

export interface MeshOptions {
  readonly manifest: Manifest;
  /** The folder that the files in the manifest are relative to. */
  readonly folder: string;
  /**
   * Where the mesh is started: its `.venv` is used if the folders of the code have none.
   * @default the mesh's folder
   */
  readonly startFolder?: string;
  /** @default 'sqs' */
  readonly transport?: 'sqs' | 'pubsub';
  /**
   * Folder for the data.
   * @default data is in memory
   */
  readonly dataDir?: string;
  readonly sqsPort?: number;
  readonly dynamodbPort?: number;
  /**
   * Starts a gateway: on this port, on its usual port, or on a free port.
   * @default no gateway
   */
  readonly gateway?: Pick<LocalGatewayOptions, 'port' | 'usualPort' | 'key'>;
  /** Maximum number of instances of each function. */
  readonly replicas: number;
  /**
   * Actors whose handlers can be debugged. Only on SQS.
   * @default none
   */
  readonly inspect?: readonly InspectedActor[];
  readonly logLevel?: 'debug' | 'info' | 'warn' | 'error';
  /**
   * Variables in which secrets are looked up that are not in `.env` of the mesh's folder.
   * @default the environment of this process
   */
  readonly shell?: Environment;
  readonly onEvent: (event: MeshEvent) => void;
}

export type MeshEvent =
  | {
      readonly event: 'line';
      readonly actor: string;
      readonly stream: 'stdout' | 'stderr';
      readonly line: string;
    }
  | { readonly event: 'batch'; readonly actor: string; readonly batch: BatchReport }
  /** Why an actor was not started. `undefined`: it was started. */
  | { readonly event: 'problem'; readonly actor: string; readonly problem: string | undefined }
  /** The first debugger attached to the actor's handler, or the last one left. */
  | { readonly event: 'debugger'; readonly actor: string; readonly isAttached: boolean }
  /** A problem that the user should know about, with what to do. */
  | { readonly event: 'warning'; readonly actor: string; readonly text: string };

export async function startMesh(options: MeshOptions): Promise<{ mesh: LocalMesh } | { problem: string }> {
  const { dataDir, sqsPort, dynamodbPort } = options;
  const started = await startEngines(defined({ dataDir, sqsPort, dynamodbPort }));
  if ('problem' in started) return started;
  const { engines } = started;
  const opened = await openBroker(engines, options);
  if ('problem' in opened) {
    await engines.close();
    return opened;
  }
  const { broker } = opened;
  let mesh: LocalMesh | undefined;
  let gateway: LocalGateway | undefined;
  let sockets: SocketFolder | undefined;
  const closeAll = async () => {
    sockets?.remove();
    await gateway?.close();
    await broker.close();
    await engines.close();
  };
  try {
    await ensureStores(engines);
    const flows = () => mesh?.manifest().flows ?? [];
    const opening = await openGateway(engines, broker, options, flows);
    if (opening !== undefined && 'problem' in opening) {
      await closeAll();
      return opening;
    }
    gateway = opening?.gateway;
    sockets = openSocketFolder(dataDir);
    const { folder, startFolder = folder, shell = process.env } = options;
    const pythons = meshPythons(folder, startFolder, shell);
    const inspecting = await openInspections({
      manifest: options.manifest,
      inspect: options.inspect ?? [],
      folder: sockets.path,
      python: pythons.of,
      onChange: (actor, isAttached) => options.onEvent({ event: 'debugger', actor, isAttached }),
    });
    if ('problem' in inspecting) {
      await closeAll();
      return inspecting;
    }
    mesh = meshOn({ engines, broker, gateway, sockets, pythons, ...inspecting }, options);
    await mesh.apply(options.manifest);
    if (broker.gatewayWorksTimers) gateway?.workTimers();
    return { mesh };
  } catch (error) {
    // Stop everything that was started before the error.
    await (mesh === undefined ? closeAll() : mesh.close(0));
    throw error;
  }
}

async function openBroker(
  { sqsEndpoint }: Engines,
  { transport = 'sqs', dataDir, logLevel = 'info', onEvent }: MeshOptions,
): Promise<{ broker: MeshBroker } | { problem: string }> {
  if (transport === 'sqs') return { broker: sqsBroker(sqsEndpoint) };
  return startPubsubBroker({
    ...defined({ dataDir }),
    logLevel,
    onLine: (actor, line) => onEvent({ event: 'line', actor, stream: 'stdout', line }),
    onWarning: (text) => onEvent({ event: 'warning', actor: transport, text }),
  });
}

async function openGateway(
  engines: Engines,
  broker: MeshBroker,
  { gateway, logLevel = 'info', onEvent }: MeshOptions,
  flows: () => readonly Flow[],
): Promise<{ gateway: LocalGateway } | { problem: string } | undefined> {
  if (gateway === undefined) return undefined;
  return startLocalGateway({
    variables: { ...variablesOf(engines), ...broker.variables },
    ...gateway,
    logLevel,
    flows,
    onLine: (line) => onEvent({ event: 'line', actor: GATEWAY, stream: 'stdout', line }),
    onWarning: (text) => onEvent({ event: 'warning', actor: GATEWAY, text }),
  });
}

/** Settings that point to the stores. */
function variablesOf({ s3Endpoint, dynamodbEndpoint }: Engines): Record<string, string> {
  return {
    ASYA_S3_ENDPOINT: s3Endpoint,
    ASYA_DYNAMODB_ENDPOINT: dynamodbEndpoint,
    ASYA_AWS_REGION: LOCAL_REGION,
    ASYA_ARCHIVE_BUCKET: ARCHIVE_BUCKET,
    ASYA_FAILURE_TABLE: FAILURE_TABLE_NAME,
  };
}

interface MeshParts {
  readonly engines: Engines;
  readonly broker: MeshBroker;
  readonly gateway: LocalGateway | undefined;
  readonly sockets: SocketFolder;
  readonly pythons: MeshPythons;
  readonly inspections: ReadonlyMap<string, Inspection>;
}

function meshOn(parts: MeshParts, options: MeshOptions): LocalMesh {
  const { engines, broker, gateway, sockets, pythons, inspections } = parts;
  const { folder, onEvent, replicas, logLevel = 'info', shell = process.env } = options;
  const { s3Endpoint, dynamodbEndpoint } = engines;
  const secrets = meshSecrets(folder, shell);
  const runners = new Map<string, ActorRunner>();
  /** Working directory of each running actor. */
  const homes = new Map<string, string>();
  /** The reported problem of each actor that waits for its secrets. Reported once, not with every change of the manifest. */
  const waiting = new Map<string, string>();
  const generations = new Map<string, number>();
  let current: Manifest = { actors: [], flows: [] };
  let planned: readonly FunctionPlan[] = [];
  let applying: Promise<unknown> = Promise.resolve();

  const storage = {
    bucket: ARCHIVE_BUCKET,
    table: FAILURE_TABLE_NAME,
    s3Endpoint,
    dynamoDbEndpoint: dynamodbEndpoint,
  };
  const settings = {
    region: LOCAL_REGION,
    broker: broker.variables,
    ...defined({ namespace: broker.namespace }),
    storage,
    logLevel,
    ...(gateway !== undefined && { gateway: { url: gateway.url, secret: gateway.secret } }),
  };

  async function apply(manifest: Manifest): Promise<readonly string[]> {
    const { functions } = planMesh(manifest, settings);
    const specs = new Map(manifest.actors.map((spec) => [spec.name, spec]));
    const names = new Set(functions.map(({ actor }) => actor));
    const known = new Set(current.actors.map(({ name }) => name));
    const removed = [...runners.values()].filter(({ plan }) => !names.has(plan.actor));
    const homeOf = (actor: string) => homeIn(folder, specs.get(actor));
    const changed = functions.filter(
      (plan) =>
        needsRestart(runners.get(plan.actor)?.plan, plan) || homes.get(plan.actor) !== homeOf(plan.actor),
    );
    await Promise.all([...removed, ...changed.flatMap(({ actor }) => runners.get(actor) ?? [])].map(stopOne));
    // Create all queues before the first runner starts, because x-dlq drains all of them.
    await Promise.all(
      changed.flatMap(({ queue }) => (queue === undefined ? [] : [broker.ensureQueue(queue)])),
    );
    await ensureBuckets(s3Endpoint, [...new Set(functions.flatMap(({ access }) => access?.buckets ?? []))]);
    await Promise.all(changed.map((plan) => start(plan, specs.get(plan.actor), homeOf(plan.actor))));
    for (const actor of waiting.keys()) if (!names.has(actor)) waiting.delete(actor);
    current = manifest;
    planned = functions;
    return [
      ...removed.map(({ plan }) => `${plan.actor} was removed; its queue keeps its messages`),
      ...changed
        .filter(({ folder: kind, actor }) => kind === 'sidecar' && runners.has(actor))
        .map(({ actor }) => `${actor} was ${known.has(actor) ? 'updated' : 'added'}`),
    ];
  }

  async function stopOne(runner: ActorRunner): Promise<void> {
    runners.delete(runner.plan.actor);
    homes.delete(runner.plan.actor);
    await runner.stop(STOP_ONE_MS);
  }

  async function applySecrets(): Promise<readonly string[]> {
    const changed = secrets.changes(current.actors);
    const messages = await Promise.all(changed.map(applySecretsOf));
    return messages.flat();
  }

  async function applySecretsOf(spec: ActorSpec): Promise<readonly string[]> {
    const { name } = spec;
    const runner = runners.get(name);
    const isComplete = secrets.problem(spec) === undefined;
    if (runner !== undefined && isComplete) {
      runner.renew();
      return [`${name} restarts with its new secrets`];
    }
    if (runner !== undefined) await stopOne(runner);
    const plan = planned.find(({ actor }) => actor === name);
    if (plan !== undefined) await start(plan, spec, homeIn(folder, spec));
    return runners.has(name) ? [`${name} starts: it has all its secrets`] : [];
  }

  async function applyPython(): Promise<readonly string[]> {
    const messages = await Promise.all(pythons.changes(current.actors).map(applyPythonOf));
    return messages.flat();
  }

  async function applyPythonOf(spec: ActorSpec): Promise<readonly string[]> {
    const { name } = spec;
    const runner = runners.get(name);
    if (runner !== undefined) await stopOne(runner);
    const plan = planned.find(({ actor }) => actor === name);
    if (plan !== undefined) await start(plan, spec, homeIn(folder, spec));
    if (!runners.has(name)) return [];
    return pythons
      .texts([spec])
      .map((text) => `${name} ${runner === undefined ? 'starts' : 'restarts'} with ${text}`);
  }

  async function start(plan: FunctionPlan, spec: ActorSpec | undefined, cwd: string): Promise<void> {
    const { actor } = plan;
    const { inspection, warning } = inspectionOf(spec, inspections);
    if (warning !== undefined) onEvent({ event: 'warning', actor, text: warning });
    const how =
      spec === undefined ? {} : runtimeCommand(spec.runtime, pythons.of(spec), inspection?.arguments);
    if ('problem' in how) {
      onEvent({ event: 'warning', actor, text: `actor "${actor}" was not started: ${how.problem}` });
      onEvent({ event: 'problem', actor, problem: `not started: ${how.problem}` });
      return;
    }
    const missing = spec === undefined ? undefined : secrets.problem(spec);
    if (missing !== undefined) {
      if (waiting.get(actor) !== missing) onEvent({ event: 'warning', actor, text: missing });
      onEvent({ event: 'problem', actor, problem: missing });
      waiting.set(actor, missing);
      return;
    }
    waiting.delete(actor);
    const { env: handlerEnv, warnings } = localHandlerAccess(plan.access, s3Endpoint, process.env);
    for (const text of warnings) onEvent({ event: 'warning', actor, text: `actor "${actor}": ${text}` });
    const runner = await broker.run({
      plan,
      cwd,
      ...(spec === undefined ? {} : { secrets: () => secrets.values(spec) }),
      socketFolder: sockets.path,
      replicas,
      ...how,
      ...defined({ handlerEnv, inspection }),
      onLine: (stream, line) => onEvent({ event: 'line', actor, stream, line }),
      onWarning: (text) => onEvent({ event: 'warning', actor, text }),
      onBatch: (batch) => onEvent({ event: 'batch', actor, batch }),
    });
    onEvent({ event: 'problem', actor, problem: undefined });
    runners.set(actor, runner);
    generations.set(actor, (generations.get(actor) ?? 0) + 1);
    homes.set(actor, cwd);
  }

  /** Sequential: a second change waits until the first one is applied. */
  function afterOthers<T>(work: () => Promise<T>): Promise<T> {
    const next = applying.then(work);
    applying = next.catch(() => {});
    return next;
  }

  return {
    description: broker.description,
    variables: { ...variablesOf(engines), ...broker.variables },
    ...(gateway !== undefined && { gateway: { url: gateway.url, key: gateway.key } }),
    inspections: [...inspections.values()],
    manifest: () => current,
    apply: (manifest) => afterOthers(() => apply(manifest)),
    applySecrets: () => afterOthers(applySecrets),
    applyPython: () => afterOthers(applyPython),
    pythonFiles: () => pythons.files(current.actors),
    pythons: () => pythons.texts(current.actors),
    generation: (actor) => generations.get(actor) ?? 0,
    renew: (actor) => runners.get(actor)?.renew(),
    depths: () => meshDepths(current, planned, broker),
    pids: () => [...runners.values()].flatMap((runner) => runner.pids()),
    close: async (graceMs) => {
      await applying;
      await Promise.all([...runners.values()].map((runner) => runner.stop(graceMs)));
      await Promise.all([...inspections.values()].map((one) => one.close()));
      // Before the data is unlocked, because then another mesh may create its own socket folder.
      sockets.remove();
      await gateway?.close();
      await broker.close();
      await engines.close();
    },
  };
}

const STOP_ONE_MS = 5_000;

/** The folder of the actor's document: its handler's working directory. */
function homeIn(folder: string, spec: ActorSpec | undefined): string {
  return resolve(folder, dirname(spec?.file ?? ''));
}
