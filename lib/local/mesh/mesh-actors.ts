import { dirname, resolve } from 'node:path';
import type { ActorSpec, Manifest } from '../../config/manifest/manifest.ts';
import type { FunctionPlan } from '../../config/plan/function-plan.ts';
import { planMesh } from '../../config/plan/mesh-plan.ts';
import { defined } from '../../core/text/defined.ts';
import type { Inspection } from '../debugger/inspection.ts';
import { type Engines, LOCAL_REGION } from '../engines/engines.ts';
import { ensureBuckets } from '../engines/local-stores.ts';
import { ARCHIVE_BUCKET, FAILURE_TABLE_NAME } from '../engines/store-names.ts';
import type { ActorRunner } from './actor-runner.ts';
import type { DebugFolder } from './debug-folder.ts';
import { localHandlerAccess } from './handler-access.ts';
import type { LocalGateway } from './local-gateway.ts';
import type { LocalMesh, MeshOptions } from './local-mesh.ts';
import type { MeshBroker } from './mesh-broker.ts';
import { meshDepths } from './mesh-depths.ts';
import { inspectionOf } from './mesh-inspections.ts';
import type { MeshPythons } from './mesh-pythons.ts';
import { meshSecrets } from './mesh-secrets.ts';
import { needsRestart } from './needs-restart.ts';
import { runtimeCommand } from './runtime-command.ts';
import { storeVariables } from './store-variables.ts';
/** What a mesh runs on. */
export interface MeshDeps {
  readonly engines: Engines;
  readonly broker: MeshBroker;
  readonly gateway: LocalGateway | undefined;
  /** Undefined if no actor is inspected. */
  readonly debugFolder: DebugFolder | undefined;
  readonly pythons: MeshPythons;
  readonly inspections: ReadonlyMap<string, Inspection>;
}

/** Runs the actors of manifests on engines, a broker and a gateway that have been started. */
export function meshOn(deps: MeshDeps, options: MeshOptions): LocalMesh {
  const { engines, broker, gateway, debugFolder, pythons, inspections } = deps;
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
    ...options.archiving,
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
    variables: { ...storeVariables(engines), ...broker.variables },
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
      // Before the data is unlocked, because then another mesh may create its own folder.
      debugFolder?.remove();
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
