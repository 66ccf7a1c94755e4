import { aScene, type Scene } from '../replay/a-replay.ts';
import { type Engines, startEngines } from '../replay/engines.ts';
import { leapingClock } from '../replay/leaping-clock.ts';
import { asya, type Run } from './a-terminal.ts';

/** An operator's desk: a mesh whose failures the crew has kept, and a terminal. It is an hour after they began. */
export interface Desk {
  readonly scene: Scene;
  readonly variables: Readonly<Record<string, string>>;
  type(...argv: readonly string[]): Promise<Run>;
}

export interface Office {
  readonly engines: Engines;
  /** With a table of its own. */
  desk(): Promise<Desk>;
  close(): Promise<void>;
}

export const NOW = Date.UTC(2026, 7, 1, 12);
const HOUR_MS = 3_600_000;

export async function openOffice(): Promise<Office> {
  const engines = await startEngines();
  await engines.sqs.createQueue('score');
  return {
    engines,
    desk: async () => {
      const { stores, variables } = await engines.freshTable();
      const scene = aScene(stores, leapingClock(NOW - HOUR_MS));
      return { scene, variables, type: (...argv) => asya(argv, { env: variables, now: () => NOW }) };
    },
    close: engines.close,
  };
}
