import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { dynamoDbTaskStore } from '../../lib/adapters/dynamodb/dynamodb-task-store.ts';
import { sqsClient } from '../../lib/adapters/sqs/sqs-client.ts';
import { sqsTransport } from '../../lib/adapters/sqs/sqs-transport.ts';
import { systemClock, systemRandom } from '../../lib/adapters/system/system.ts';
import { readMesh } from '../../lib/assembly/mesh/read-mesh.ts';
import { isFinal } from '../../lib/core/task/task.ts';
import { LOCAL_REGION, startEngines } from '../../lib/local/engines/engines.ts';
import { ensureStores } from '../../lib/local/engines/local-stores.ts';
import { FAILURE_TABLE_NAME } from '../../lib/local/engines/store-names.ts';
import { startLocalGateway } from '../../lib/local/mesh/local-gateway.ts';
import type { MeshOptions } from '../../lib/local/mesh/local-mesh.ts';
import { meshOn } from '../../lib/local/mesh/mesh-actors.ts';
import { meshPythons } from '../../lib/local/mesh/mesh-pythons.ts';
import { sqsBroker } from '../../lib/local/mesh/sqs-broker.ts';
import { storeVariables } from '../../lib/local/mesh/store-variables.ts';
import { OWN_CLIENT } from './count-requests.ts';
import { type Counted, requestCounter } from './request-counter.ts';

const ACTORS = ['fetch', 'score', 'store'] as const;
const FLOW = 'three';
const FLOW_SECONDS = 3_600;

/** A local mesh of three actors with a gateway, whose requests to AWS are counted. */
export interface CountedMesh {
  /** Starts a task at the gateway. Resolves with its id. */
  create(): Promise<string>;
  /** Sends an envelope that no task belongs to. */
  send(id: string): Promise<void>;
  /** Resolves when this many envelopes have reached x-sink since the last `take`, and these tasks have ended. */
  untilEnded(envelopes: number, tasks: readonly string[]): Promise<void>;
  take(): Promise<Counted>;
  close(): Promise<void>;
}

const HANDLER = 'export const step = (payload) => payload;\n';

function writeMesh(folder: string): void {
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'step.js'), HANDLER);
  for (const name of ACTORS)
    writeFileSync(
      join(folder, `${name}.yaml`),
      `apiVersion: asya.sh/v1alpha1
kind: AsyncActor
metadata: {name: ${name}}
spec:
  handler: step.js.step
  scaling: {batchSize: 10}
`,
    );
  const [entrypoint, ...rest] = ACTORS;
  writeFileSync(
    join(folder, 'flows.yaml'),
    `flows:\n- {name: ${FLOW}, entrypoint: ${entrypoint}, route_next: [${rest.join(', ')}], timeout: ${FLOW_SECONDS}}\n`,
  );
}

export async function startCountedMesh(
  archiving: NonNullable<MeshOptions['archiving']>,
): Promise<CountedMesh> {
  const folder = mkdtempSync(join(tmpdir(), 'asya-cost-'));
  writeMesh(folder);
  const reading = readMesh(folder, 'warnings');
  if ('mistakes' in reading) throw new Error(JSON.stringify(reading.mistakes));
  const started = await startEngines();
  if ('problem' in started) throw new Error(started.problem);
  const { engines } = started;
  const { sqsEndpoint, dynamodbEndpoint } = engines;
  await ensureStores(engines);
  const broker = sqsBroker(sqsEndpoint);
  const opened = await startLocalGateway({
    variables: { ...storeVariables(engines), ...broker.variables, ASYA_GATEWAY_RATE: '1000000' },
    flows: () => reading.manifest.flows,
    logLevel: 'error',
    onLine: print,
    onWarning: print,
  });
  if ('problem' in opened) throw new Error(opened.problem);
  const { gateway } = opened;
  let reached = 0;
  const mesh = meshOn(
    {
      engines,
      broker,
      gateway,
      debugFolder: undefined,
      pythons: meshPythons(folder, folder, {}),
      inspections: new Map(),
    },
    {
      manifest: reading.manifest,
      folder,
      replicas: 1,
      logLevel: 'error',
      archiving,
      onEvent: (event) => {
        if (event.event === 'warning') print(event.text);
        if (event.event === 'line' && event.stream === 'stderr') print(`${event.actor}: ${event.line}`);
        if (event.event !== 'batch') return;
        counter.invoked(event.actor);
        if (event.actor === 'x-sink') reached += event.batch.messages;
      },
    },
  );
  const credentials = { accessKeyId: 'local', secretAccessKey: 'local' };
  const client = new DynamoDBClient({
    endpoint: dynamodbEndpoint,
    region: LOCAL_REGION,
    credentials,
    customUserAgent: OWN_CLIENT,
  });
  const counter = requestCounter(gateway.url, client);
  const tasks = dynamoDbTaskStore({ client, name: FAILURE_TABLE_NAME }, systemClock, systemRandom);
  const sender = sqsTransport({
    client: sqsClient({ endpoint: sqsEndpoint, region: LOCAL_REGION }, {}),
    visibilitySeconds: 60,
    waitSeconds: 0,
  });
  await mesh.apply(reading.manifest);

  async function isOpen(id: string): Promise<boolean> {
    const got = await tasks.get(id);
    return !got.ok || got.task === undefined || !isFinal(got.task.state);
  }

  return {
    create: async () => {
      const response = await fetch(`${gateway.url}/flows/${FLOW}`, {
        method: 'POST',
        headers: { authorization: `Bearer ${gateway.key}`, 'content-type': 'application/json' },
        body: JSON.stringify(PAYLOAD),
      });
      if (response.status !== 201) throw new Error(`the gateway answered ${response.status}`);
      return ((await response.json()) as { id: string }).id;
    },
    send: async (id) => {
      const [curr, ...next] = ACTORS;
      const body = JSON.stringify({ id, route: { prev: [], curr, next }, payload: PAYLOAD });
      const reply = await sender.send(curr, body);
      if (!reply.ok) throw new Error(reply.problem);
    },
    untilEnded: async (envelopes, ids) => {
      while (reached < envelopes) await systemClock.sleep(POLL_MS);
      let open = ids;
      for (;;) {
        const states = await Promise.all(open.map(isOpen));
        open = open.filter((_, index) => states[index]);
        if (open.length === 0) return;
        await systemClock.sleep(POLL_MS);
      }
    },
    take: async () => {
      await systemClock.sleep(AFTERWARDS_MS);
      reached = 0;
      return counter.take();
    },
    close: async () => {
      counter.close();
      client.destroy();
      await sender.close();
      await mesh.close(1_000);
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

const PAYLOAD = { url: 'https://example.com/a.jpg', note: 'x'.repeat(200) };
const POLL_MS = 20;
/** Reports and deletions may follow the end of a task. */
const AFTERWARDS_MS = 2_000;

function print(text: string): void {
  process.stderr.write(`bench: ${text}\n`);
}
