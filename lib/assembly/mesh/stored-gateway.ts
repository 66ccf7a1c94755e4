import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { foldersIn, nearestState, runningMeshes } from './running-mesh.ts';

/** The port and the key of a local gateway. They stay the same from one start to the next. */
export interface StoredGateway {
  readonly port: number;
  readonly key: string;
}

/** In the folder of the mesh, `.asya/{name}`. */
export const GATEWAY_FILE = 'gateway.json';

/** Undefined if there is none, or if it cannot be read: then the gateway gets a new port and a new key. */
export function readStoredGateway(file: string): StoredGateway | undefined {
  try {
    const { port, key } = JSON.parse(readFileSync(file, 'utf8')) as Partial<StoredGateway>;
    const isPort = Number.isInteger(port) && Number(port) > 0 && Number(port) < 65_536;
    return isPort && typeof key === 'string' && key.length >= MIN_KEY
      ? { port: Number(port), key }
      : undefined;
  } catch {
    return undefined;
  }
}

/** A shorter key was edited by hand and could be guessed. */
const MIN_KEY = 20;

export interface StoppedMesh {
  readonly name: string;
  readonly gateway?: StoredGateway;
}

/** The meshes with state in this folder, or in the nearest folder above it that has any, that do not run. */
export function stoppedMeshes(from: string): readonly StoppedMesh[] {
  const state = nearestState(from);
  if (state === undefined) return [];
  const running = new Set(runningMeshes(from).map(({ name }) => name));
  return foldersIn(state)
    .filter((name) => !running.has(name))
    .map((name) => {
      const gateway = readStoredGateway(join(state, name, GATEWAY_FILE));
      return { name, ...(gateway !== undefined && { gateway }) };
    });
}
