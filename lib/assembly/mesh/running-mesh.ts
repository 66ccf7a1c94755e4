import { readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** A mesh that runs on this machine, as described in its file `.asya/{name}/mesh.json`. */
export interface RunningMesh {
  readonly name: string;
  /** The mesh's folder. */
  readonly folder: string;
  readonly pid: number;
  /** The environment variables that a sidecar or the CLI needs to connect to its engines. */
  readonly variables: Readonly<Record<string, string>>;
  /** The log of its functions, one JSON object per line. */
  readonly logFile: string;
  readonly actors: readonly string[];
  readonly flows: readonly RunningFlow[];
  readonly gateway?: GatewayAccess;
}

/** The URL of the mesh's gateway on this machine, and an API key for it. */
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

/** Where the mesh was started: its state is in that folder. */
export function startFolderOf({ logFile }: RunningMesh): string {
  const folderOfMesh = dirname(logFile);
  return dirname(dirname(folderOfMesh));
}

/** The running meshes whose state is in this folder, or in the nearest folder above it that has any. */
export function runningMeshes(from: string): readonly RunningMesh[] {
  const state = nearestState(from);
  if (state === undefined) return [];
  return foldersIn(state)
    .map((name) => meshAt(join(state, name, MESH_FILE)))
    .filter((mesh) => mesh !== undefined);
}

/** Empty if the state belongs to another user and cannot be read: that user's mesh cannot be used either. */
export function foldersIn(state: string): readonly string[] {
  try {
    const entries = readdirSync(state, { withFileTypes: true });
    return entries.filter((entry) => entry.isDirectory()).map(({ name }) => name);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EACCES') return [];
    throw error;
  }
}

export function nearestState(from: string): string | undefined {
  const here = join(from, STATE_FOLDER);
  if (statSync(here, { throwIfNoEntry: false })?.isDirectory()) return here;
  const above = dirname(from);
  return above === from ? undefined : nearestState(above);
}

/** Undefined if it does not run: a killed mesh leaves its file behind, with the id of a process that has ended. */
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
    // The process exists and belongs to another user.
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
