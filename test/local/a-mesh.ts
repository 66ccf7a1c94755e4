import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { type Stores, storesFromConfig } from '../../lib/assembly/from-config/crew-from-config.ts';
import { configFromEnvironment } from '../../lib/assembly/from-config/read-config.ts';
import { transportFromConfig } from '../../lib/assembly/from-config/transport-from-config.ts';
import { readMesh } from '../../lib/assembly/mesh/read-mesh.ts';
import type { Manifest } from '../../lib/config/manifest/manifest.ts';
import { queueName } from '../../lib/config/settings/queue-name.ts';
import { readOperatorConfig } from '../../lib/config/settings/read-host-config.ts';
import type { EndRecord } from '../../lib/core/failure/record.ts';
import { LOCAL_REGION } from '../../lib/local/engines/engines.ts';

export const FIVE = ['a', 'b', 'c', 'd', 'e'];

/** Appends its name to the path, or fails if the payload requests it. */
const STEP = `
export function step(payload: { path?: string[]; fail?: string }) {
  const name = process.env.STEP ?? '';
  if (payload.fail === name) throw new TypeError('requested failure at ' + name);
  return { ...payload, path: [...(payload.path ?? []), name] };
}
`;

export function actorYaml(name: string, more = ''): string {
  return `apiVersion: asya.sh/v1alpha1
kind: AsyncActor
metadata: {name: ${name}}
spec:
  handler: step.ts.step
  environment: {STEP: ${name}}
  resiliency: {actorTimeout: 8s, visibilityTimeout: 9s}
${more}`;
}

/** Writes a mesh of five actors in one flow. */
export function writeFive(folder: string, names: readonly string[] = FIVE): void {
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'step.ts'), STEP);
  for (const name of names) writeFileSync(join(folder, `${name}.yaml`), actorYaml(name));
  const [first, ...rest] = names;
  writeFileSync(
    join(folder, 'flows.yaml'),
    `flows:\n- {name: all, entrypoint: ${first}, route_next: [${rest.join(', ')}]}\n`,
  );
}

export function manifestIn(folder: string): Manifest {
  const reading = readMesh(folder, 'warnings');
  if ('mistakes' in reading) throw new Error(JSON.stringify(reading.mistakes));
  return reading.manifest;
}

/** Access to a mesh from outside, with the settings that it announces. */
export interface Outside {
  readonly stores: Stores;
  send(route: readonly string[], id: string, payload?: unknown, timeoutSeconds?: number): Promise<void>;
  untilEnded(id: string, withinMs?: number): Promise<EndRecord>;
  payloadOf(record: EndRecord): Promise<unknown>;
  envelopeOf(record: EndRecord): Promise<ArchivedEnvelope>;
  close(): Promise<void>;
}

interface ArchivedEnvelope {
  readonly payload: unknown;
  readonly status: { readonly attempt?: number };
}

export function outsideOf(variables: Readonly<Record<string, string>>): Outside {
  const stores = storesFromConfig(
    {
      bucket: variables['ASYA_ARCHIVE_BUCKET'] ?? '',
      table: variables['ASYA_FAILURE_TABLE'] ?? '',
      s3Endpoint: variables['ASYA_S3_ENDPOINT'] ?? '',
      dynamoDbEndpoint: variables['ASYA_DYNAMODB_ENDPOINT'] ?? '',
    },
    LOCAL_REGION,
    {},
  );
  const reading = configFromEnvironment(readOperatorConfig, { ASYA_ACTOR_NAME: 'x-sump', ...variables });
  if ('message' in reading) throw new Error(reading.message);
  const { config } = reading;
  const opening = transportFromConfig(config, {});
  /** Waits, because an end is recorded before the envelope is archived. */
  async function envelopeOf({ archiveKey }: EndRecord): Promise<ArchivedEnvelope> {
    const deadline = Date.now() + 60_000;
    for (;;) {
      const archived = await stores.archive.get(archiveKey ?? '');
      if (archived.ok && archived.text !== undefined) return JSON.parse(archived.text) as ArchivedEnvelope;
      if (Date.now() > deadline) throw new Error(`the archive has no object ${archiveKey}`);
      await pause(50);
    }
  }
  return {
    stores,
    send: async ([curr = '', ...next], id, payload = {}, timeoutSeconds) => {
      const status =
        timeoutSeconds === undefined
          ? {}
          : { status: { deadline_at: new Date(Date.now() + timeoutSeconds * 1000).toISOString() } };
      const body = JSON.stringify({ id, route: { prev: [], curr, next }, payload, ...status });
      const reply = await (await opening).send(queueName(curr, config.namespace), body);
      if (!reply.ok) throw new Error(reply.problem);
    },
    untilEnded: async (id, withinMs = 60_000) => {
      const deadline = Date.now() + withinMs;
      for (;;) {
        const ends = await stores.records.ofEnvelope(id);
        if (!ends.ok) throw new Error(ends.problem);
        if (ends.records[0] !== undefined) return ends.records[0];
        if (Date.now() > deadline) throw new Error(`envelope ${id} did not end within ${withinMs} ms`);
        await pause(50);
      }
    },
    payloadOf: async (record) => (await envelopeOf(record)).payload,
    envelopeOf,
    close: async () => {
      stores.close();
      await (await opening).close();
    },
  };
}
