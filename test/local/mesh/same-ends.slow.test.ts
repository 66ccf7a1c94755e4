import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { deriveId } from '../../../lib/adapters/system/system.ts';
import { readMesh } from '../../../lib/assembly/mesh/read-mesh.ts';
import type { EndRecord } from '../../../lib/core/failure/record.ts';
import { findPubsubEmulator } from '../../../lib/local/engines/find-pubsub-emulator.ts';
import { startMesh } from '../../../lib/local/mesh/mesh.ts';
import { type Outside, outsideOf } from '../a-mesh.ts';

/** Runs the same mesh on SQS and on Pub/Sub. Each envelope must end in the same way. */

interface ExpectedEnd {
  readonly flow: string;
  readonly payload: unknown;
  readonly ends: number;
  readonly folder: string;
  readonly reason: string;
  readonly actor: string;
  readonly attempts: number | null;
}

/** How an envelope ended: its archive folder, reason and payload. */
interface End {
  readonly folder: string;
  readonly reason: string;
  readonly actor: string;
  readonly attempts: number | null;
  readonly payload: unknown;
}

const LAB = join(import.meta.dirname, '../../../examples/resilience-lab');
const EXPECTED = JSON.parse(readFileSync(join(LAB, 'outcomes.json'), 'utf8')) as readonly ExpectedEnd[];
/** One envelope kills its function five times, and each crash has to be detected. */
const PATIENCE_MS = 280_000;

const emulator = findPubsubEmulator(process.env);
if ('absence' in emulator) console.log(`skipped: same ends on Pub/Sub; ${emulator.absence}`);

test.skipIf('absence' in emulator)(
  'every envelope of the resilience lab ends in the same way on SQS and Pub/Sub',
  { timeout: 2 * PATIENCE_MS + 60_000 },
  async () => {
    const onPubsub = await endsOn('pubsub');
    expect(await endsOn('sqs')).toEqual(onPubsub);
    for (const { flow, folder, reason, actor, attempts } of EXPECTED)
      expect(onPubsub[flow], flow).toMatchObject({ folder, reason, actor, attempts });
  },
);

/** The ends by envelope id, including the children of the envelope that fans out. */
async function endsOn(transport: 'sqs' | 'pubsub'): Promise<Readonly<Record<string, End>>> {
  const reading = readMesh(LAB);
  if ('mistakes' in reading) throw new Error(JSON.stringify(reading.mistakes));
  const { manifest } = reading;
  const started = await startMesh({ manifest, folder: LAB, transport, replicas: 1, onEvent: () => {} });
  if ('problem' in started) throw new Error(started.problem);
  const outside = outsideOf(started.mesh.variables);
  try {
    const ends = await Promise.all(
      EXPECTED.map(async ({ flow, payload, ends: count, attempts, reason }) => {
        const route = manifest.flows.find(({ name }) => name === flow);
        const { entrypoint = '', routeNext = [], timeoutSeconds } = route ?? {};
        // A function may start slowly on a busy machine, so only the envelope that must time out has a short deadline.
        const seconds = reason === 'Timeout' ? timeoutSeconds : PATIENCE_MS / 1000;
        await outside.send([entrypoint, ...routeNext], flow, payload, seconds);
        const children = Array.from({ length: count - 1 }, (_, index) =>
          deriveId('fan-out', flow, entrypoint, 0, index + 1),
        );
        return Promise.all(
          [flow, ...children].map(async (id) => [id, await endOf(id, outside, attempts === null)] as const),
        );
      }),
    );
    return Object.fromEntries(ends.flat());
  } finally {
    await outside.close();
    await started.mesh.close(1_000);
  }
}

async function endOf(id: string, outside: Outside, isUncounted: boolean): Promise<End> {
  const record: EndRecord = await outside.untilEnded(id, PATIENCE_MS);
  const { payload, status } = await outside.envelopeOf(record);
  return {
    folder: record.archiveKey?.split('/')[0] ?? '',
    reason: record.reason,
    actor: record.actor,
    attempts: isUncounted ? null : (status.attempt ?? null),
    payload,
  };
}
