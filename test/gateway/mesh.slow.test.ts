import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { LocalMesh, MeshEvent } from '../../lib/local/mesh/local-mesh.ts';
import { startMesh } from '../../lib/local/mesh/mesh.ts';
import { manifestIn, outsideOf } from '../local/a-mesh.ts';
import { eventsOf } from './served-fixture.ts';

/** Waits, fans out or fails as the payload says; returns whether it can see the gateway's secrets. */
const HANDLER = `
import { existsSync } from 'node:fs';
const pause = (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds));
export async function step(payload) {
  while (payload.until && !existsSync(payload.until)) await pause(20);
  if (payload.many) return Array.from({ length: payload.many }, (_, nth) => ({ nth, sleep: payload.sleep }));
  if (payload.fail) throw new TypeError('failed as requested');
  if (payload.sleep) await pause(payload.sleep);
  return { ...payload, secrets: Object.keys(process.env).filter((name) => /GATEWAY_SECRET|GATEWAY_KEYS/.test(name)) };
}
`;

function actorYaml(name: string, runtime = 'handler: step.ts.step'): string {
  return `apiVersion: asya.sh/v1alpha1
kind: AsyncActor
metadata: {name: ${name}}
spec:
  ${runtime}
  resiliency: {actorTimeout: 90s}
`;
}

const FLOWS = `flows:
- {name: two, entrypoint: one, route_next: [two], timeout: 600}
- {name: stuck, entrypoint: broken, timeout: 3}
`;

let folder: string;
let mesh: LocalMesh;
const events: MeshEvent[] = [];
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'asya-gateway-'));
  writeFileSync(join(folder, 'step.ts'), HANDLER);
  for (const name of ['one', 'two']) writeFileSync(join(folder, `${name}.yaml`), actorYaml(name));
  writeFileSync(join(folder, 'broken.yaml'), actorYaml('broken', 'image: example/not-available'));
  writeFileSync(join(folder, 'flows.yaml'), FLOWS);
  const started = await startMesh({
    manifest: manifestIn(folder),
    folder,
    gateway: {},
    replicas: 1,
    onEvent: (event) => events.push(event),
  });
  if ('problem' in started) throw new Error(started.problem);
  mesh = started.mesh;
});
afterAll(async () => {
  await mesh.close(1_000);
  rmSync(folder, { recursive: true, force: true });
});

interface TaskView {
  readonly id: string;
  readonly state: string;
  readonly reason?: string;
  readonly error?: { readonly message: string };
  readonly result?: unknown;
  readonly children: Readonly<Record<string, { readonly state: string }>>;
}

function request(path: string, init: RequestInit = {}): Promise<Response> {
  const headers = { authorization: `Bearer ${mesh.gateway?.key}`, 'content-type': 'application/json' };
  return fetch(`${mesh.gateway?.url}${path}`, { ...init, headers: { ...headers, ...init.headers } });
}

async function create(flow: string, payload: unknown, waitSeconds = 0): Promise<TaskView> {
  const headers = { prefer: `wait=${waitSeconds}` };
  const response = await request(`/flows/${flow}`, {
    method: 'POST',
    headers,
    body: JSON.stringify(payload),
  });
  return (await response.json()) as TaskView;
}

async function taskAt(id: string): Promise<TaskView> {
  return (await (await request(`/tasks/${id}`)).json()) as TaskView;
}

/** Functions are loaded with their first delivery, which may take longer than a request waits. */
async function ended(flow: string, payload: unknown): Promise<TaskView> {
  const { id } = await create(flow, payload, 60);
  const state = async () => (await taskAt(id)).state;
  await expect.poll(state, { timeout: 110_000 }).toMatch(/succeeded|failed|canceled/);
  return taskAt(id);
}

describe('a mesh with a gateway', () => {
  it('processes a request to its result, with an event for each actor', async () => {
    const task = await ended('two', { n: 1 });
    expect(task).toMatchObject({ state: 'succeeded', result: { n: 1, secrets: [] } });
    const taskEvents = await eventsOf(
      await request(`/tasks/${task.id}/events`, { headers: { 'last-event-id': '0' } }),
    );
    const stepsOf = (name: string) =>
      taskEvents.filter(({ data }) => data.actor === name).map(({ data }) => data.type);
    const types = taskEvents.map(({ data }) => data.type);
    expect([types.at(0), types.at(-1)]).toEqual(['created', 'ended']);
    // A call that is over within a second is reported with the end; on a busy machine it may take longer.
    const inOrder = ['received', 'processing', 'completed', 'ended'];
    for (const actor of ['one', 'two']) {
      const steps = stepsOf(actor);
      expect(steps).toEqual(inOrder.filter((step) => steps.includes(step)));
      expect(steps).toContain('completed');
    }
  });

  it('reports why a task failed', async () => {
    expect(await ended('two', { fail: true })).toMatchObject({
      state: 'failed',
      reason: 'RuntimeError',
      error: { type: 'TypeError', message: 'failed as requested' },
    });
  });

  it('shows the children of a fan-out under their root', async () => {
    const task = await ended('two', { many: 3 });
    expect(task.state).toBe('succeeded');
    // The root's end ends the task; the children end separately.
    const states = async () => Object.values((await taskAt(task.id)).children).map(({ state }) => state);
    await expect.poll(states).toEqual(['succeeded', 'succeeded']);
  });

  it('cancels a running task: the next actor is not called', async () => {
    const released = join(folder, 'released');
    // So many that they take longer than the time after which the actor's sidecar asks for cancellations again.
    const task = await create('two', { until: released, many: 40, sleep: 500 });
    await expect.poll(async () => (await taskAt(task.id)).state).toBe('running');
    expect(await (await request(`/tasks/${task.id}`, { method: 'DELETE' })).json()).toMatchObject({
      state: 'canceled',
    });
    writeFileSync(released, '');
    const printed = () => events.flatMap((event) => (event.event === 'line' ? [event] : []));
    await expect
      .poll(() => printed().some(({ actor, line }) => actor === 'two' && /canceled/.test(line)))
      .toBe(true);
    expect((await taskAt(task.id)).state).toBe('canceled');
  });

  it('ends a task on time while its actor hangs', async () => {
    const task = await create('stuck', {}, 60);
    expect(task).toMatchObject({
      state: 'failed',
      reason: 'Timeout',
      error: { message: 'envelope timed out' },
    });
  });

  it('ends an overdue task by its timer, without a reader', async () => {
    const { id } = await create('stuck', {});
    const { stores, close } = outsideOf(mesh.variables);
    const stored = async () => {
      const got = await stores.tasks.get(id);
      return got.ok ? got.task?.state : got.problem;
    };
    await expect.poll(stored).toBe('failed');
    await close();
    const [, ended, ...more] = await eventsOf(
      await request(`/tasks/${id}/events`, { headers: { 'last-event-id': '0' } }),
    );
    expect([ended?.data.state, ended?.data.type, more]).toEqual(['failed', 'ended', []]);
  });

  it('serves the flows of the current manifest', async () => {
    const flows = async () =>
      ((await (await request('/flows')).json()) as { flows: { name: string }[] }).flows;
    expect((await flows()).map(({ name }) => name)).toEqual(['two', 'stuck']);
    writeFileSync(join(folder, 'flows.yaml'), 'flows:\n- {name: other, entrypoint: one}\n');
    await mesh.apply(manifestIn(folder));
    expect((await flows()).map(({ name }) => name)).toEqual(['other']);
    expect((await request('/flows/two', { method: 'POST', body: '{}' })).status).toBe(404);
  });

  it('never logs its key or its secret', () => {
    const lines = JSON.stringify(events);
    expect(events.length).toBeGreaterThan(0);
    expect(lines).not.toContain(mesh.gateway?.key);
    // The secret is 32 random bytes in hexadecimal.
    expect(lines).not.toMatch(/[0-9a-f]{64}/);
  });
});
