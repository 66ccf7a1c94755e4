import { appendFileSync, mkdirSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { MESH_FILE, type RunningMesh, STATE_FOLDER } from '../../assembly/mesh/running-mesh.ts';
import { errorText } from '../../core/text/error-text.ts';
import { makePrivate, makeTreePrivate, PRIVATE_FILE, PRIVATE_FOLDER } from '../engines/private-files.ts';
import { removeLeftSockets } from './socket-folder.ts';

/** What a mesh keeps beside whoever runs it: its engines' data, what it says of itself, and its log. */
export interface MeshState {
  readonly name: string;
  readonly dataDir: string;
  readonly logFile: string;
  /** What it says of itself while it runs. */
  readonly meshFile: string;
  /**
   * Creates its folder, for its user only, and corrects the modes of what earlier versions left there. Returns a
   * warning if the file system does not allow that. Call it before anything is written.
   */
  prepare(): string | undefined;
  /** For the commands of another shell. */
  announce(mesh: Omit<RunningMesh, 'name' | 'pid' | 'logFile'>): void;
  log(line: string): void;
  /** Nobody is to look for a mesh that is gone. */
  withdraw(): void;
  /** Throws away whatever was kept. */
  empty(): void;
}

const LOG_FILE = 'log.jsonl';
const MAX_LOG_BYTES = 50 * 1024 * 1024;

export function meshState(cwd: string, folder: string, longestLogBytes = MAX_LOG_BYTES): MeshState {
  const name = basename(resolve(cwd, folder));
  const stateFolder = join(cwd, STATE_FOLDER);
  const root = join(stateFolder, name);
  const meshFile = join(root, MESH_FILE);
  const logFile = join(root, LOG_FILE);
  const dataDir = join(root, 'data');
  let loggedBytes: number | undefined;

  /** One log before this one is kept, and no more: a mesh may run for weeks. */
  function log(line: string): void {
    loggedBytes ??= statSync(logFile, { throwIfNoEntry: false })?.size ?? 0;
    if (loggedBytes > longestLogBytes) {
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
        return `${stateFolder} cannot be closed to other users of this machine: ${why}`;
      }
    },
    announce: (mesh) => {
      makeFolder();
      // Whole or not at all: somebody may be reading it. It holds a key, which is its owner's.
      rmSync(`${meshFile}.new`, { force: true });
      writeFileSync(
        `${meshFile}.new`,
        `${JSON.stringify({ name, pid: process.pid, logFile, ...mesh }, null, 2)}\n`,
        { mode: PRIVATE_FILE },
      );
      renameSync(`${meshFile}.new`, meshFile);
    },
    log,
    withdraw: () => rmSync(meshFile, { force: true }),
    empty: () => {
      removeLeftSockets(dataDir);
      rmSync(root, { recursive: true, force: true });
    },
  };
}
