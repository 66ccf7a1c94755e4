import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Host, LoadResult } from '../../../lib/config/load-model/load.ts';
import { simulateLoad } from '../../../lib/config/load-model/simulate-load.ts';
import type { Manifest } from '../../../lib/config/manifest/manifest.ts';
import { SIDECAR_MS } from '../../../lib/config/scaling/bookkeeping.ts';
import { scaledMesh } from '../../../lib/config/scaling/mesh-demand.ts';
import { usageOfInvocation } from '../../../lib/config/scaling/usage.ts';
import { DEFAULT_WORKLOAD, type Workload } from '../../../lib/config/scaling/workload.ts';
import type { LocalMesh } from '../../../lib/local/mesh/local-mesh.ts';
import { startMesh } from '../../../lib/local/mesh/mesh.ts';
import { manifestIn, outsideOf } from '../a-mesh.ts';

/**
 * Compares the model of a load with a mesh that runs here. Times are calibrated with the measured ones, so that only
 * numbers of envelopes, invocations and requests are compared, and in what order backlogs are largest.
 */

const COUNT = 300;
const BATCH = 10;
/** Far longer than everything else in the mesh, on any machine: envelopes wait there. */
const SLOW_MS = 60;
const ROUTE = ['fast', 'slow', 'last'];

const HANDLERS = `
import { setTimeout as pause } from 'node:timers/promises';
export const fast = (payload: unknown) => payload;
export const slow = async (payload: unknown) => {
  await pause(${SLOW_MS});
  return payload;
};
export const last = fast;
export const down = () => {
  throw new Error('the service is down');
};
`;
const RESILIENCY =
  '  resiliency: {policies: {default: {maxAttempts: 3, backoff: constant, initialDelay: 1s}}}\n';

function writeMesh(folder: string): void {
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'step.ts'), HANDLERS);
  const actor = (name: string) => `apiVersion: asya.sh/v1alpha1
kind: AsyncActor
metadata: {name: ${name}}
spec:
  handler: step.ts.${name}
  scaling: {batchSize: ${BATCH}, maxReplicas: 2}
${name === 'down' ? RESILIENCY : ''}`;
  writeFileSync(join(folder, 'actors.yaml'), [...ROUTE, 'down'].map(actor).join('---\n'));
  writeFileSync(
    join(folder, 'flows.yaml'),
    'flows:\n- {name: burst, entrypoint: fast, route_next: [slow, last]}\n',
  );
}

interface Batch {
  readonly actor: string;
  readonly messages: number;
  readonly durationMs: number;
}

let folder: string;
let manifest: Manifest;
let mesh: LocalMesh;
let batches: Batch[] = [];
let requests = 0;

/** Every send and delete that reaches the embedded SQS. */
const countRequest = (event: unknown) => {
  const { request } = event as { readonly request: IncomingMessage };
  const target = String(request.headers['x-amz-target']);
  if (/^AmazonSQS\.(Send|Delete)Message/.test(target)) requests++;
};

beforeAll(async () => {
  folder = join(mkdtempSync(join(tmpdir(), 'asya-load-')), 'mesh');
  writeMesh(folder);
  manifest = manifestIn(folder);
  const started = await startMesh({
    manifest,
    folder,
    replicas: 1,
    logLevel: 'error',
    onEvent: (event) => {
      if (event.event === 'batch') batches.push({ ...event.batch, actor: event.actor });
    },
  });
  if ('problem' in started) throw new Error(started.problem);
  mesh = started.mesh;
  subscribe('http.server.request.start', countRequest);
}, 60_000);
afterAll(async () => {
  unsubscribe('http.server.request.start', countRequest);
  await mesh.close(1_000);
  rmSync(join(folder, '..'), { recursive: true, force: true });
});

/** Sends a burst, and resolves when as many deliveries have ended at an actor. */
async function burst(route: readonly string[], count: number, actor: string): Promise<void> {
  const outside = outsideOf(mesh.variables);
  // Loads the functions and opens their connections.
  await outside.send(route, `first-of-${route[0]}`);
  await outside.untilEnded(`first-of-${route[0]}`);
  while (deliveriesAt(actor) < 1) await pause(20);
  batches = [];
  requests = 0;
  const ids = Array.from({ length: count }, (_, nth) => `${route[0]}-${nth}`);
  await Promise.all(ids.map((id) => outside.send(route, id)));
  while (deliveriesAt(actor) < count) await pause(20);
  await outside.close();
}

function batchesAt(actor: string): readonly Batch[] {
  return batches.filter((batch) => batch.actor === actor);
}

function deliveriesAt(actor: string): number {
  return batchesAt(actor).reduce((sum, { messages }) => sum + messages, 0);
}

/** The most envelopes that had ended at one actor and not yet at the next one. */
function peakBetween(before: string, actor: string): number {
  let waiting = 0;
  let peak = 0;
  for (const batch of batches) {
    if (batch.actor === before) waiting += batch.messages;
    if (batch.actor === actor) waiting -= batch.messages;
    peak = Math.max(peak, waiting);
  }
  return peak;
}

/** What a call takes here, from the median of the full batches. */
function measuredCallMs(actor: string): number {
  const full = batchesAt(actor).filter(({ messages }) => messages === BATCH);
  const durations = full.map(({ durationMs }) => durationMs).sort((one, other) => one - other);
  const median = durations[Math.floor(durations.length / 2)] ?? SIDECAR_MS;
  return Math.max(0.1, (median - SIDECAR_MS) / BATCH);
}

/** One copy of each function, and a single poll at a time. */
const HERE: Host = { start: 1, addedPerMinute: 0, pollers: 1, executions: Number.POSITIVE_INFINITY };
const STEP_MS = 100;

function modelOf(
  route: readonly string[],
  count: number,
  workload: Workload,
  outages: readonly string[],
): LoadResult {
  const planned = scaledMesh(manifest, { region: 'us-east-1', storage: {}, replicaLimit: 1 });
  return simulateLoad({
    mesh: { ...planned, routes: [route] },
    workload,
    arrivals: (atMs) => (atMs === 0 ? count / (STEP_MS / 1000) : 0),
    outages: outages.map((of) => ({ of, fromMs: 0, untilMs: DURATION_MS })),
    durationMs: DURATION_MS,
    stepMs: STEP_MS,
    sampleMs: DURATION_MS,
    host: HERE,
  });
}

const DURATION_MS = 600_000;

const modelled = ({ total }: LoadResult, actor: string) => {
  const at = total.functions.get(actor);
  if (at === undefined) throw new Error(`the model has no ${actor}`);
  return at;
};

test('a burst waits where the model says, in as many invocations and requests', async () => {
  await burst(ROUTE, COUNT, 'x-sink');
  const workload: Workload = { ...DEFAULT_WORKLOAD, callMs: measuredCallMs, failedShare: 0 };
  const model = modelOf(ROUTE, COUNT, workload, []);

  expect(model.succeeded).toBeCloseTo(COUNT);
  for (const actor of [...ROUTE, 'x-sink']) {
    expect(deliveriesAt(actor), actor).toBe(COUNT);
    expect(modelled(model, actor).deliveries, actor).toBeCloseTo(COUNT);
  }

  // Nearly all of them wait at the slow actor, and nowhere behind it.
  const slow = { here: peakBetween('fast', 'slow'), model: modelled(model, 'slow').backlog };
  expect(Math.abs(slow.here - slow.model) / COUNT, JSON.stringify(slow)).toBeLessThan(0.2);
  expect(slow.here).toBeGreaterThan(COUNT / 2);
  const last = { here: peakBetween('slow', 'last'), model: modelled(model, 'last').backlog };
  expect(last.here, JSON.stringify(last)).toBeLessThanOrEqual(3 * BATCH);
  expect(last.model, JSON.stringify(last)).toBeLessThanOrEqual(3 * BATCH);

  // Where envelopes wait, batches are full.
  const invocations = { here: batchesAt('slow').length, model: modelled(model, 'slow').invocations };
  expect(invocations.here / invocations.model, JSON.stringify(invocations)).toBeLessThan(1.3);
  expect(invocations.here / invocations.model, JSON.stringify(invocations)).toBeGreaterThan(0.9);
  expect(batchesAt('last').length / modelled(model, 'last').invocations).toBeLessThan(1.5);

  // Requests: of the invocations that took place, without the polls, which the local event source makes differently.
  const planned = scaledMesh(manifest, { region: 'us-east-1', storage: {} });
  const expected = batches.reduce((sum, { actor, messages }) => {
    const plan = planned.functions.find((one) => one.actor === actor);
    if (plan === undefined) return sum;
    const usage = usageOfInvocation(plan, { records: messages, durationMs: 0 }, workload);
    return sum + (usage.sqsRequests ?? 0) - 1;
  }, COUNT / BATCH);
  expect(requests / expected, `${requests} requests, ${expected} expected`).toBeLessThan(1.25);
  expect(requests / expected, `${requests} requests, ${expected} expected`).toBeGreaterThan(0.75);
}, 240_000);

test('an outage takes as many deliveries as the model says, and fails as many envelopes', async () => {
  const count = 60;
  await burst(['down'], count, 'x-sump');
  const workload: Workload = { ...DEFAULT_WORKLOAD, callMs: () => 1, failedShare: 0 };
  const model = modelOf(['down'], count, workload, ['down']);
  expect(deliveriesAt('down')).toBe(3 * count);
  expect(modelled(model, 'down').deliveries).toBeCloseTo(3 * count);
  expect(deliveriesAt('x-sump')).toBe(count);
  expect(model.failed).toBeCloseTo(count);
}, 240_000);
