import { aScene, type Scene } from '../replay/a-replay.ts';
import { autoAdvancingClock } from '../replay/auto-advancing-clock.ts';
import { type Engines, startEngines } from '../replay/engines.ts';
import { asya, type Run } from './run-asya.ts';

/** A mesh with its own table, and `asya` configured for it. The clock is one hour after the first failure. */
export interface CrewMesh {
  readonly scene: Scene;
  readonly variables: Readonly<Record<string, string>>;
  cli(...argv: readonly string[]): Promise<Run>;
}

/** SQS, S3 and DynamoDB engines that the meshes of a test file share. */
export interface Backend {
  readonly engines: Engines;
  newMesh(): Promise<CrewMesh>;
  close(): Promise<void>;
}

export const NOW = Date.UTC(2026, 7, 1, 12);
const HOUR_MS = 3_600_000;

export async function startBackend(): Promise<Backend> {
  const engines = await startEngines();
  await engines.sqs.createQueue('score');
  return {
    engines,
    newMesh: async () => {
      const { stores, variables } = await engines.freshTable();
      const scene = aScene(stores, autoAdvancingClock(NOW - HOUR_MS));
      return { scene, variables, cli: (...argv) => asya(argv, { env: variables, now: () => NOW }) };
    },
    close: engines.close,
  };
}
