import { type SpawnedGroup, spawnGroup } from '../../lib/adapters/runtime-process/spawn-group.ts';
import { runtimeStart } from '../../lib/config/settings/runtime-environment.ts';

/**
 * Starts the runtime when this module is loaded, before the rest of the sidecar: both take about the same time, and the
 * first envelope needs both. Undefined if the sidecar has to read something first, such as secrets.
 */
const start = runtimeStart(process.env);
export const started: SpawnedGroup | undefined = start && spawnGroup({ ...start, hasChannel: true });
