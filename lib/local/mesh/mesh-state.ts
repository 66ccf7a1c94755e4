import { appendFileSync, mkdirSync, readdirSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { MESH_FILE, type RunningMesh, STATE_FOLDER } from '../../assembly/mesh/running-mesh.ts';
import { GATEWAY_FILE, readStoredGateway, type StoredGateway } from '../../assembly/mesh/stored-gateway.ts';
import { errorText } from '../../core/text/error-text.ts';
import { makePrivate, makeTreePrivate, PRIVATE_FILE, PRIVATE_FOLDER } from '../engines/private-files.ts';
import { removeLeftDebugFolder } from './debug-folder.ts';

/** Files of a local mesh in the working directory: data of the engines, the description of the running mesh, and its log. */
export interface MeshState {
  readonly name: string;
  readonly dataDir: string;
  readonly logFile: string;
  /** Describes the running mesh for other commands. */
  readonly meshFile: string;
  /**
   * Creates the folder with access for the current user only, and corrects the modes of existing files. Returns a warning
   * if the file system does not allow that. Call it before anything is written.
   */
  prepare(): string | undefined;
  /** Writes `meshFile`, so that commands in other shells find the mesh. */
  announce(mesh: Omit<RunningMesh, 'name' | 'pid' | 'logFile'>): void;
  /** The gateway's port and key of the last start. Undefined at the first start. */
  readGateway(): StoredGateway | undefined;
  /** Stores the gateway's port and key for the next start. */
  storeGateway(gateway: StoredGateway): void;
  log(line: string): void;
  /** Removes `meshFile`. */
  withdraw(): void;
  /** Deletes all files of the mesh, except the gateway's port and key: clients are configured with them. */
  empty(): void;
}

const LOG_FILE = 'log.jsonl';
const MAX_LOG_BYTES = 50 * 1024 * 1024;

export function meshState(cwd: string, folder: string, maxLogBytes = MAX_LOG_BYTES): MeshState {
  const name = basename(resolve(cwd, folder));
  const stateFolder = join(cwd, STATE_FOLDER);
  const root = join(stateFolder, name);
  const meshFile = join(root, MESH_FILE);
  const gatewayFile = join(root, GATEWAY_FILE);
  const logFile = join(root, LOG_FILE);
  const dataDir = join(root, 'data');
  let loggedBytes: number | undefined;

  /** Rotates the log: one older file is kept, because a mesh may run for weeks. */
  function log(line: string): void {
    loggedBytes ??= statSync(logFile, { throwIfNoEntry: false })?.size ?? 0;
    if (loggedBytes > maxLogBytes) {
      renameSync(logFile, `${logFile}.1`);
      loggedBytes = 0;
    }
    appendFileSync(logFile, `${line}\n`, { mode: PRIVATE_FILE });
    loggedBytes += Buffer.byteLength(line) + 1;
  }

  function makeFolder(): void {
    mkdirSync(root, { recursive: true, mode: PRIVATE_FOLDER });
  }

  return {
    name,
    dataDir,
    logFile,
    meshFile,
    prepare: () => {
      try {
        makeFolder();
        makePrivate(stateFolder);
        makeTreePrivate(root);
        return undefined;
      } catch (error) {
        const why = errorText(error);
        return `cannot restrict ${stateFolder} to the current user: ${why}`;
      }
    },
    announce: (mesh) => {
      makeFolder();
      writeJson(meshFile, { name, pid: process.pid, logFile, ...mesh });
    },
    readGateway: () => readStoredGateway(gatewayFile),
    storeGateway: (gateway) => {
      makeFolder();
      writeJson(gatewayFile, gateway);
    },
    log,
    withdraw: () => rmSync(meshFile, { force: true }),
    empty: () => {
      removeLeftDebugFolder(dataDir);
      for (const entry of namesIn(root))
        if (entry !== GATEWAY_FILE) rmSync(join(root, entry), { recursive: true, force: true });
    },
  };
}

function namesIn(folder: string): readonly string[] {
  return statSync(folder, { throwIfNoEntry: false })?.isDirectory() ? readdirSync(folder) : [];
}

/** Written atomically, because another process may read it. Private, because it contains a key. */
function writeJson(file: string, value: object): void {
  rmSync(`${file}.new`, { force: true });
  writeFileSync(`${file}.new`, `${JSON.stringify(value, null, 2)}\n`, { mode: PRIVATE_FILE });
  renameSync(`${file}.new`, file);
}
