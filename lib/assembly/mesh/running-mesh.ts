import { readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** A mesh that runs on this machine, as it says of itself in `.asya/{name}/mesh.json`. */
export interface RunningMesh {
  readonly name: string;
  /** The mesh's folder. */
  readonly folder: string;
  readonly pid: number;
  /** What a sidecar or an operator's tool needs to reach its engines. */
  readonly variables: Readonly<Record<string, string>>;
  /** What its functions said, one JSON object a line. */
  readonly logFile: string;
  readonly actors: readonly string[];
  readonly flows: readonly RunningFlow[];
  readonly gateway?: GatewayAccess;
}

/** Where a mesh's flows can be called on this machine, and with which key. */
export interface GatewayAccess {
  readonly url: string;
  readonly key: string;
}

export interface RunningFlow {
  readonly name: string;
  readonly entrypoint: string;
  readonly routeNext: readonly string[];
  readonly timeoutSeconds?: number;
}

export const STATE_FOLDER = '.asya';
export const MESH_FILE = 'mesh.json';

/** The meshes whose state lies in this folder or the nearest one above it, and which run. */
export function runningMeshes(from: string): readonly RunningMesh[] {
  const state = nearestState(from);
  if (state === undefined) return [];
  return foldersIn(state)
    .map((name) => meshAt(join(state, name, MESH_FILE)))
    .filter((mesh) => mesh !== undefined);
}

/** None if the state is another user's: it is closed to everybody else, and so is the mesh. */
function foldersIn(state: string): readonly string[] {
  try {
    const entries = readdirSync(state, { withFileTypes: true });
    return entries.filter((entry) => entry.isDirectory()).map(({ name }) => name);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EACCES') return [];
    throw error;
  }
}

function nearestState(from: string): string | undefined {
  const here = join(from, STATE_FOLDER);
  if (statSync(here, { throwIfNoEntry: false })?.isDirectory()) return here;
  const above = dirname(from);
  return above === from ? undefined : nearestState(above);
}

/** Undefined where none runs: a file that a killed mesh left behind names a process that is gone. */
function meshAt(path: string): RunningMesh | undefined {
  try {
    const mesh = JSON.parse(readFileSync(path, 'utf8')) as RunningMesh;
    return isRunning(mesh.pid) ? mesh : undefined;
  } catch {
    return undefined;
  }
}

function isRunning(pid: number): boolean {
  if (!(Number.isInteger(pid) && pid > 0)) return false;
  try {
    return process.kill(pid, 0);
  } catch (error) {
    // It is there, and somebody else's.
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
