import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { GetObjectCommand, ListObjectsV2Command, S3Client } from '@aws-sdk/client-s3';
import { GetQueueUrlCommand, SendMessageCommand, SQSClient } from '@aws-sdk/client-sqs';
import { readMesh } from '../../lib/assembly/mesh/read-mesh.ts';
import type { Manifest } from '../../lib/config/manifest/manifest.ts';
import { mistakesText } from '../../lib/core/text/mistake.ts';
import type { LocalMesh } from '../../lib/local/mesh/local-mesh.ts';
import { startMesh } from '../../lib/local/mesh/mesh.ts';

const DEADLINE_MS = 600_000;
export const EXAMPLES = join(import.meta.dirname, '../../examples');

/** An ended envelope in the archive. */
interface ArchivedEnd {
  /** The first part of the archive key. */
  readonly folder: string;
  readonly envelope: {
    readonly id: string;
    readonly parent_id?: string;
    readonly payload: unknown;
    readonly status: {
      readonly phase: string;
      readonly reason: string;
      readonly actor: string;
      readonly attempt?: number;
    };
  };
}

/** A running example mesh, with its data in memory. */
export interface ExampleMesh {
  readonly mesh: LocalMesh;
  readonly warnings: readonly string[];
  readonly lines: readonly string[];
  /** Sends to a flow, with a longer deadline than the flow's, for busy machines. Returns the envelope's id. */
  send(flow: string, payload: unknown): Promise<string>;
  /** Waits until an envelope and its children have `count` ends. */
  ends(id: string, count: number, withinMs: number): Promise<readonly ArchivedEnd[]>;
  close(): Promise<void>;
}

export function readExample(folder: string): Manifest {
  const reading = readMesh(folder);
  if ('mistakes' in reading) throw new Error(mistakesText(reading.mistakes));
  return reading.manifest;
}

export async function startExample(folder: string, actors?: readonly string[]): Promise<ExampleMesh> {
  const whole = readExample(folder);
  const isIncluded = (actor: string) => actors?.includes(actor) ?? true;
  const manifest: Manifest = {
    actors: whole.actors.filter(({ name }) => isIncluded(name)),
    flows: whole.flows.filter(({ entrypoint, routeNext }) => [entrypoint, ...routeNext].every(isIncluded)),
  };
  const warnings: string[] = [];
  const lines: string[] = [];
  const started = await startMesh({
    manifest,
    folder,
    replicas: 1,
    logLevel: 'warn',
    onEvent: (event) => {
      if (event.event === 'warning') warnings.push(event.text);
      if (event.event === 'line') lines.push(`${event.actor}: ${event.line}`);
    },
  });
  if ('problem' in started) throw new Error(started.problem);
  const { mesh } = started;
  const { ASYA_SQS_ENDPOINT, ASYA_S3_ENDPOINT, ASYA_AWS_REGION, ASYA_ARCHIVE_BUCKET } = mesh.variables;
  const common = {
    region: ASYA_AWS_REGION ?? '',
    credentials: { accessKeyId: 'local', secretAccessKey: 'local' },
  };
  const sqs = new SQSClient({ ...common, endpoint: ASYA_SQS_ENDPOINT ?? '', useQueueUrlAsEndpoint: false });
  const s3 = new S3Client({ ...common, endpoint: ASYA_S3_ENDPOINT ?? '', forcePathStyle: true });
  const Bucket = ASYA_ARCHIVE_BUCKET ?? '';
  const archived = new Map<string, ArchivedEnd>();

  async function readArchive(): Promise<void> {
    const { Contents = [] } = await s3.send(new ListObjectsV2Command({ Bucket }));
    for (const { Key = '' } of Contents) {
      if (archived.has(Key)) continue;
      const { Body } = await s3.send(new GetObjectCommand({ Bucket, Key }));
      const envelope = JSON.parse((await Body?.transformToString()) ?? '');
      archived.set(Key, { folder: Key.split('/')[0] ?? '', envelope });
    }
  }

  return {
    mesh,
    warnings,
    lines,
    send: async (name, payload) => {
      const flow = manifest.flows.find((one) => one.name === name);
      if (flow === undefined) throw new Error(`unknown flow "${name}"`);
      const { entrypoint, routeNext } = flow;
      const id = randomUUID();
      const { QueueUrl } = await sqs.send(new GetQueueUrlCommand({ QueueName: entrypoint }));
      const route = { prev: [], curr: entrypoint, next: routeNext };
      const status = { deadline_at: new Date(Date.now() + DEADLINE_MS).toISOString() };
      const MessageBody = JSON.stringify({ id, route, payload, status });
      await sqs.send(new SendMessageCommand({ QueueUrl, MessageBody }));
      return id;
    },
    ends: async (id, count, withinMs) => {
      const until = Date.now() + withinMs;
      for (;;) {
        await readArchive();
        const found = [...archived.values()].filter(
          ({ envelope }) => envelope.id === id || envelope.parent_id === id,
        );
        if (found.length >= count) return found;
        if (Date.now() > until) {
          const output = [...warnings, ...lines.slice(-20)].join('\n');
          throw new Error(
            `${found.length} of ${count} ends within ${withinMs} ms; output of the mesh:\n${output}`,
          );
        }
        await pause(200);
      }
    },
    close: async () => {
      sqs.destroy();
      s3.destroy();
      await mesh.close(2_000);
    },
  };
}
