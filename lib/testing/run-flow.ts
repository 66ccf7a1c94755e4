import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { simulate } from '../app/simulation/simulate.ts';
import { readMesh } from '../assembly/mesh/read-mesh.ts';
import {
  meshScenario,
  randomFrom,
  type Target,
  targetOf,
  wholeSecond,
} from '../assembly/simulation/mesh-scenario.ts';
import { ScenarioMistake } from '../assembly/simulation/scenario-mistake.ts';
import { scriptsFrom } from '../assembly/simulation/scripts-from-text.ts';
import type { ActorSpec, Manifest } from '../config/manifest/manifest.ts';
import { mistakesText } from '../core/text/mistake.ts';
import { suggestion } from '../core/text/nearest.ts';
import { instantMs, TIMESTAMP_RULE } from '../core/text/timestamp.ts';
import { flowHandlers } from './flow-handlers.ts';
import type { FlowRunOptions } from './flow-options.ts';
import { type FlowRun, flowRunFrom } from './flow-run.ts';
import { jsonFrom } from './json-payload.ts';
import { headersFrom } from './json-values.ts';
import { REAL_TIMEOUT_MS } from './real-time.ts';

/**
 * Runs an envelope through a mesh until it and all children of its fan-outs have ended. The policies, timeouts and routes
 * of the manifest apply, processed by the code that also runs in Lambda. Time is virtual: delays and durations of calls
 * pass at once.
 *
 * @throws Error (rejects) if the mesh is not valid, an option is not, a handler cannot be loaded or hangs, or the
 * envelopes do not end. If an envelope fails, it resolves: read `end`.
 * @example
 * const { end, sent } = await runFlow({
 *   mesh: import.meta.dirname,
 *   flow: 'hello',
 *   payload: { name: 'you' },
 *   handlers: { shout: ({ greeting }) => ({ greeting: greeting.toUpperCase() }) },
 *   fail: 'greet:http:503*2',
 * });
 * assert.equal(end.reason, 'Completed');
 */
export async function runFlow(options: FlowRunOptions): Promise<FlowRun> {
  const folder = folderOf(options.mesh);
  const manifest = manifestIn(folder);
  const { handlers: given = {}, realTimeoutMs = REAL_TIMEOUT_MS, envelopeId = 'test-envelope' } = options;
  const specs = new Map(manifest.actors.map((actor) => [actor.name, actor]));
  checkActors(Object.keys(given), specs, 'handlers');
  const { scripts } = scriptsFrom({ fail: listOf(options.fail), take: listOf(options.take) }, specs, {
    fail: 'fail',
    take: 'take',
  });
  const entry = {
    ...targetFrom(options, manifest, specs),
    envelopeId,
    payload: jsonFrom(options.payload ?? {}, 'payload'),
    headers: headersFrom(options.headers ?? {}),
    startMs: startFrom(options.at),
    random: randomFrom(seedFrom(options.seed)),
    scripts,
  };
  const scenario = meshScenario(manifest, entry);
  const handlers = flowHandlers({
    folder,
    given,
    realTimeoutMs,
    fanOutOf: (name) => scenario.actors.get(name)?.fanOut ?? 'array',
  });
  const answering = new Map(
    [...scripts].map(([name, script]) => [
      name,
      { ...script, answer: handlers.answerOf(specs.get(name) as ActorSpec) },
    ]),
  );
  const { maxDeliveries = 20_000 } = options;
  try {
    const simulation = await simulate({ ...scenario, scripts: answering, maxDeliveries });
    const { end, steps } = simulation;
    if (end.kind === 'endless')
      throw new Error(
        `the envelopes have not ended after ${end.deliveries} deliveries; raise maxDeliveries if they should`,
      );
    if (end.kind === 'released' && steps.length === 0)
      throw new ScenarioMistake(`SQS rejects an envelope with this payload: ${end.problem}`);
    return flowRunFrom(simulation, envelopeId);
  } finally {
    await handlers.close();
  }
}

function folderOf(mesh: string | URL): string {
  return resolve(mesh instanceof URL ? fileURLToPath(mesh) : mesh);
}

function manifestIn(folder: string): Manifest {
  // A handler that cannot be loaded is reported by the call that needs it.
  const reading = readMesh(folder, 'ignored');
  if ('manifest' in reading) return reading.manifest;
  const { mistakes } = reading;
  throw new ScenarioMistake(
    `the mesh in ${folder} is not valid:\n${mistakesText(mistakes).replace(/^/gm, '  ')}`,
  );
}

function targetFrom(
  { flow, actor, route }: FlowRunOptions,
  manifest: Manifest,
  specs: ReadonlyMap<string, ActorSpec>,
): Target {
  const given = Object.entries({ flow, actor, route }).filter(([, value]) => value !== undefined);
  if (given.length !== 1) {
    const names = given.map(([name]) => name).join(' and ') || 'none of them';
    throw new ScenarioMistake(`expected one of flow, actor and route, but the options contain ${names}`);
  }
  if (flow !== undefined) return flowNamed(flow, manifest);
  const actors = actor === undefined ? (route ?? []) : [actor];
  if (actors.length === 0) throw new ScenarioMistake('the route is empty; expected at least one actor');
  checkActors(actors, specs, actor === undefined ? 'route' : 'actor');
  return { route: actors };
}

function flowNamed(flow: string, manifest: Manifest): Target {
  if (manifest.flows.some(({ name }) => name === flow)) return targetOf(manifest, flow);
  const names = manifest.flows.map(({ name }) => name);
  const hint = manifest.actors.some(({ name }) => name === flow)
    ? `; "${flow}" is an actor: use actor: '${flow}'`
    : suggestion(flow, names);
  throw new ScenarioMistake(`the mesh has no flow "${flow}"${hint}`);
}

function checkActors(names: readonly string[], specs: ReadonlyMap<string, ActorSpec>, option: string): void {
  for (const name of names) {
    if (!specs.has(name))
      throw new ScenarioMistake(
        `${option}: the mesh has no actor "${name}"${suggestion(name, specs.keys())}`,
      );
  }
}

function listOf(texts: string | readonly string[] = []): readonly string[] {
  return typeof texts === 'string' ? [texts] : texts;
}

function startFrom(at: Date | string | undefined): number {
  if (at === undefined) return wholeSecond(Date.now());
  const instant = at instanceof Date ? at.getTime() : instantMs(at);
  if (instant === undefined || Number.isNaN(instant))
    throw new ScenarioMistake(`at is "${at}"; ${TIMESTAMP_RULE}`);
  return instant;
}

function seedFrom(seed: number | undefined): number | undefined {
  if (seed === undefined || Number.isSafeInteger(seed)) return seed;
  throw new ScenarioMistake(`seed is ${seed}; expected a whole number, e.g. 7`);
}
