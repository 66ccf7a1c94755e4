import type { Clock } from '../../ports/clock.ts';
import type { Details } from '../../ports/telemetry.ts';
import type { RuntimeLine } from './lines.ts';
import type { ProcessClient } from './process-client.ts';
import type { SpawnedGroup } from './spawn-group.ts';

export interface ProcessRuntimeOptions {
  readonly command: string;
  /** Where the process runs. Default: the working directory of this process. */
  readonly cwd?: string;
  /** The environment of a process. Called before each start, which waits for it without a time limit. Never rejects. */
  readonly env: () => Promise<Record<string, string>>;
  /** The first process, if it was already started with this command and environment. */
  readonly started?: SpawnedGroup;
  /** Why `env` has not resolved yet, if it takes longer. Undefined: it has. */
  readonly waitsFor?: () => string | undefined;
  /** Calls the started process. */
  readonly client: ProcessClient;
  readonly clock: Clock;
  /** How long a process may take to become ready before it is killed and restarted. Default: no limit. */
  readonly startupTimeoutMs?: number;
  /** Waits for the startup timeout. Default: that of the clock. */
  readonly startupSleep?: Clock['sleep'];
  readonly onLine: (line: RuntimeLine) => void;
  /** The process is ready for calls. */
  readonly onReady?: (details: { readonly pid: number; readonly startedInMs: number }) => void;
  readonly onWarning: (message: string, details: Details) => void;
}
