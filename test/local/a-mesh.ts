import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { SendMessageCommand } from '@aws-sdk/client-sqs';
import { sqsClient } from '../../lib/adapters/sqs/sqs-client.ts';
import { type Stores, storesFromConfig } from '../../lib/assembly/crew-from-config.ts';
import { readMesh } from '../../lib/assembly/read-mesh.ts';
import type { Manifest } from '../../lib/config/manifest.ts';
import type { EndRecord } from '../../lib/core/record.ts';
import { LOCAL_ACCOUNT, LOCAL_REGION } from '../../lib/local/engines.ts';

export const FIVE = ['a', 'b', 'c', 'd', 'e'];

/** Says who was there, fails where the payload says so. */
const STEP = `
export function step(payload: { path?: string[]; fail?: string }) {
  const name = process.env.STEP ?? '';
  if (payload.fail === name) throw new TypeError('told to fail at ' + name);
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
  resiliency: {actorTimeout: 2s, visibilityTimeout: 8s}
${more}`;
}

/** A mesh of five actors in a row. */
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
  const reading = readMesh(folder);
  if ('mistakes' in reading) throw new Error(JSON.stringify(reading.mistakes));
  return reading.manifest;
}

/** What a test asks of a mesh from outside, by the variables that it announces. */
export interface Outside {
  readonly stores: Stores;
  send(route: readonly string[], id: string, payload?: unknown): Promise<void>;
  untilEnded(id: string, withinMs?: number): Promise<EndRecord>;
  payloadOf(record: EndRecord): Promise<unknown>;
  close(): void;
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
  const endpoint = variables['ASYA_SQS_ENDPOINT'] ?? '';
  const sqs = sqsClient({ endpoint, region: LOCAL_REGION }, {});
  return {
    stores,
    send: async ([curr = '', ...next], id, payload = {}) => {
      const MessageBody = JSON.stringify({ id, route: { prev: [], curr, next }, payload });
      await sqs.send(
        new SendMessageCommand({ QueueUrl: `${endpoint}/${LOCAL_ACCOUNT}/${curr}`, MessageBody }),
      );
    },
    untilEnded: async (id, withinMs = 60_000) => {
      const givesUpAt = Date.now() + withinMs;
      for (;;) {
        const ends = await stores.records.ofEnvelope(id);
        if (!ends.ok) throw new Error(ends.problem);
        if (ends.records[0] !== undefined) return ends.records[0];
        if (Date.now() > givesUpAt) throw new Error(`${id} had no end within ${withinMs} ms`);
        await pause(50);
      }
    },
    // An end is claimed first and archived after.
    payloadOf: async ({ archiveKey }) => {
      const givesUpAt = Date.now() + 10_000;
      for (;;) {
        const kept = await stores.archive.get(archiveKey);
        if (kept.ok && kept.text !== undefined) return JSON.parse(kept.text).payload;
        if (Date.now() > givesUpAt) throw new Error(`nothing under ${archiveKey}`);
        await pause(50);
      }
    },
    close: () => {
      stores.close();
      sqs.destroy();
    },
  };
}

export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
