import { createHmac } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { jsonLog } from '../../lib/adapters/log/json-log.ts';
import { gatewayFromConfig, type ServedGateway } from '../../lib/assembly/from-config/gateway-from-config.ts';
import { configFromEnvironment } from '../../lib/assembly/from-config/read-config.ts';
import { transportFromConfig } from '../../lib/assembly/from-config/transport-from-config.ts';
import { type Listening, serveGateway } from '../../lib/assembly/hosts/serve-gateway.ts';
import { readGatewayConfig } from '../../lib/config/settings/read-host-config.ts';
import type { FinalReport } from '../../lib/core/task/report.ts';
import { type EmbeddedStores, startEmbeddedStores } from '../support/embedded-stores.ts';
import { sha256 } from './served-fixture.ts';

const SECRET = 'a secret of the mesh, long enough to be one';
const CALLERS = ['ann', 'bob', 'cid', 'dot'];
const FLOWS = [{ name: 'quick', entrypoint: 'one', routeNext: ['two'], timeoutSeconds: 600 }];

let embedded: EmbeddedStores;
let served: ServedGateway;
let listening: Listening;
const lines: string[] = [];
beforeAll(async () => {
  embedded = await startEmbeddedStores();
  for (const queue of ['one', 'x-gateway']) await embedded.sqs.createQueue(queue);
  const env = {
    ...embedded.variables,
    ASYA_ACTOR_NAME: 'x-gateway',
    ASYA_GATEWAY_SECRET: SECRET,
    ASYA_GATEWAY_RATE: '1000',
    ASYA_GATEWAY_PUBLIC_URL: 'https://flows.example',
    ASYA_GATEWAY_KEYS: JSON.stringify(
      CALLERS.map((id) => ({ id, sha256: sha256(`key of ${id}`.replaceAll(' ', '_')) })),
    ),
  };
  const reading = configFromEnvironment(readGatewayConfig, env);
  if ('message' in reading) throw new Error(reading.message);
  const log = jsonLog({
    level: 'debug',
    actor: 'x-gateway',
    now: Date.now,
    write: (line) => lines.push(line),
  });
  served = await gatewayFromConfig(reading.config, env, log, transportFromConfig, () => FLOWS);
  listening = await serveGateway(served.face, 0, '127.0.0.1');
});
afterAll(async () => {
  await listening.close();
  await served.close();
  await embedded.close();
});

interface View {
  readonly id: string;
  readonly state: string;
  readonly result?: { readonly of: string };
}

function request(caller: string, path: string, init: RequestInit = {}): Promise<Response> {
  const headers = { 'x-api-key': `key_of_${caller}`, 'content-type': 'application/json', ...init.headers };
  return fetch(`http://127.0.0.1:${listening.port}${path}`, { ...init, headers });
}

async function create(caller: string, headers: Record<string, string> = {}): Promise<View> {
  const response = await request(caller, '/flows/quick', { method: 'POST', body: '{"n":1}', headers });
  return (await response.json()) as View;
}

async function report(reports: readonly FinalReport[]): Promise<number> {
  const body = JSON.stringify({ reports });
  const seconds = Math.floor(Date.now() / 1000);
  const mac = createHmac('sha256', SECRET).update(`${seconds}.${body}`).digest('hex');
  const headers = { 'x-asya-signature': `t=${seconds},v1=${mac}` };
  return (await request('', '/reports', { method: 'POST', body, headers })).status;
}

function endOf(id: string): FinalReport {
  const common = { task: id, envelope_id: id, event: 'final', actor: 'two', hop: 2 } as const;
  return { ...common, phase: 'succeeded', reason: 'Completed', archive_key: `ends/${id}.json` };
}

describe('a gateway on real stores', () => {
  it('isolates 200 concurrent tasks of several callers', {
    timeout: 300_000,
  }, async () => {
    const mine = await Promise.all(
      Array.from({ length: 200 }, async (_, nth) => {
        const caller = CALLERS[nth % CALLERS.length] ?? '';
        return { caller, id: (await create(caller)).id };
      }),
    );
    expect(new Set(mine.map(({ id }) => id)).size).toBe(200);
    const results: View[] = [];
    // Ten at a time: the engines run in this process, and more requests would only wait for each other.
    for (let part = 0; part < 20; part++) {
      const ten = mine.slice(part * 10, part * 10 + 10);
      await Promise.all(
        ten.map(async ({ id }) => {
          const end = { id, route: { prev: ['one', 'two'], curr: '', next: [] }, payload: { of: id } };
          expect(await embedded.stores.archive.put(`ends/${id}.json`, JSON.stringify(end))).toMatchObject({
            ok: true,
          });
        }),
      );
      expect(await report(ten.map(({ id }) => endOf(id)))).toBe(200);
      const views = ten.map(async ({ caller, id }) => (await request(caller, `/tasks/${id}`)).json());
      results.push(...((await Promise.all(views)) as View[]));
    }
    expect(results.map(({ state, result }) => [state, result?.of])).toEqual(
      mine.map(({ id }) => ['succeeded', id]),
    );
    const foreign = await Promise.all(
      mine.slice(0, 20).map(async ({ caller, id }) => {
        const other = CALLERS[(CALLERS.indexOf(caller) + 1) % CALLERS.length] ?? '';
        return (await request(other, `/tasks/${id}`)).status;
      }),
    );
    expect(new Set(foreign)).toEqual(new Set([404]));
    const listed: string[] = [];
    for (let path: string | undefined = '/tasks'; path !== undefined; ) {
      const page = (await (await request('ann', path)).json()) as { tasks: View[]; links?: { next: string } };
      listed.push(...page.tasks.map(({ id }) => id));
      path = page.links?.next;
    }
    expect(listed.sort()).toEqual(
      mine
        .filter(({ caller }) => caller === 'ann')
        .map(({ id }) => id)
        .sort(),
    );
  });

  it('rejects an invalid cursor', async () => {
    const response = await request('ann', '/tasks?cursor=zzz');
    expect([response.status, await response.json()]).toEqual([
      422,
      expect.objectContaining({ detail: expect.stringContaining('links.next') }),
    ]);
  });

  it('serves the agent card without credentials', async () => {
    const card = `http://127.0.0.1:${listening.port}/.well-known/agent-card.json`;
    // Not the Host header of the request: clients send their keys to the URL in the card.
    expect(await (await fetch(card, { headers: { 'A2A-Version': '1.0' } })).json()).toMatchObject({
      supportedInterfaces: [{ url: 'https://flows.example/a2a' }, { url: 'https://flows.example/a2a' }],
    });
    const posted = await fetch(card, { method: 'POST' });
    expect([posted.status, posted.headers.get('allow')]).toEqual([405, 'GET']);
  });

  it('creates one task for concurrent requests with one idempotency key', async () => {
    const headers = { 'idempotency-key': 'the-same' };
    const before = (await embedded.sqs.counts('one')).visible;
    const made = await Promise.all(Array.from({ length: 20 }, () => create('bob', headers)));
    expect(new Set(made.map(({ id }) => id)).size).toBe(1);
    expect((await embedded.sqs.counts('one')).visible).toBe(before + 1);
  });

  it('answers 503 without details if its table is down', async () => {
    await embedded.dynamoDb.goDown();
    const response = await request('ann', '/flows/quick', { method: 'POST', body: '{}' });
    expect([response.status, response.headers.get('retry-after')]).toEqual([503, '5']);
    expect(await response.text()).not.toMatch(/ECONN|table/);
    await embedded.dynamoDb.recover();
    expect((await request('ann', '/tasks')).status).toBe(200);
  });

  it('stores a failed task if the queue is missing', async () => {
    await embedded.sqs.createQueue('one');
    const gone = { ...FLOWS[0], name: 'nowhere', entrypoint: 'missing' };
    FLOWS.push(gone as (typeof FLOWS)[0]);
    const response = await request('dot', '/flows/nowhere', { method: 'POST', body: '{}' });
    expect(response.status).toBe(503);
    const { tasks } = (await (await request('dot', '/tasks')).json()) as { tasks: View[] };
    expect(tasks[0]).toMatchObject({ flow: 'nowhere', state: 'failed', error: { type: 'Unavailable' } });
  });

  it('never logs a key or the secret', () => {
    expect(lines.join('\n')).not.toMatch(/key_of_|a secret of the mesh/);
  });
});
