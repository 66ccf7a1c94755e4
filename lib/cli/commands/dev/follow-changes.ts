import { systemClock } from '../../../adapters/system/system.ts';
import { readMesh } from '../../../assembly/mesh/read-mesh.ts';
import { errorText } from '../../../core/text/error-text.ts';
import { mistakesText } from '../../../core/text/mistake.ts';
import type { FolderChanges } from '../../../local/mesh/folder-changes.ts';
import type { LocalMesh } from '../../../local/mesh/local-mesh.ts';
import { type FolderWatch, watchFolder } from '../../../local/mesh/watch-folder.ts';
import type { MeshView } from '../../output/mesh-view.ts';
import type { WarningFilter } from './warning-filter.ts';

export interface ChangeFollower {
  readonly mesh: LocalMesh;
  /** The mesh's folder. */
  readonly root: string;
  readonly view: MeshView;
  /** When the files were first read, in milliseconds. */
  readonly since: number;
  /** Knows the warnings that have been shown. */
  readonly newWarnings: WarningFilter;
  /** Whether the log reports that a handler has started. If not, its problem is cleared when it restarts. */
  readonly logsStarts: boolean;
  /** Called after a manifest was applied. */
  readonly announce: () => void;
}

/** An invalid manifest may become valid without a change of its documents: when a file that it names is created. */
const READ_AGAIN_AFTER_MS = 1_000;

/** Applies changes of the mesh's files until it is closed: the manifest first, then Python, `.env` and the handlers. */
export function followChanges(follower: ChangeFollower): FolderWatch {
  const { mesh, root, view, since, newWarnings, logsStarts, announce } = follower;
  let rejected: string | undefined;
  /** When an invalid manifest was last read. Undefined: it is valid. */
  let invalidAt: number | undefined;

  return watchFolder(
    root,
    { manifest: mesh.manifest, pythonFiles: mesh.pythonFiles, since },
    async (changes) => {
      if (changes !== undefined) await apply(changes);
      else if (invalidAt !== undefined && systemClock.now() - invalidAt > READ_AGAIN_AFTER_MS)
        await applyManifest(rejected);
    },
  );

  async function apply({ isManifest, isPython, isEnv, handlers }: FolderChanges): Promise<void> {
    const before = new Map([...handlers.keys()].map((actor) => [actor, mesh.generation(actor)]));
    if (isManifest) await applyManifest();
    if (isPython) await applyPython();
    if (isEnv) await applySecrets();
    for (const [actor, reason] of handlers) {
      // An actor that was started again has the new code already.
      if (mesh.generation(actor) !== before.get(actor)) continue;
      mesh.renew(actor);
      if (!logsStarts) view.problem(actor, undefined);
      view.note(`${actor} restarts: ${reason}`);
    }
  }

  /** A rejection is not reported again if it is the known one. */
  async function applyManifest(known?: string): Promise<void> {
    const reading = readMesh(root, 'warnings');
    invalidAt = 'mistakes' in reading ? systemClock.now() : undefined;
    if ('mistakes' in reading) return reject(`:\n${mistakesText(reading.mistakes)}`, known);
    try {
      for (const change of await mesh.apply(reading.manifest)) view.note(change);
      announce();
      for (const text of newWarnings(reading.warnings)) view.warn(text);
      if (rejected !== undefined) view.note('the manifest is valid again');
      rejected = undefined;
    } catch (error) {
      reject(`: ${errorText(error)}; save it again to retry`);
    }
  }

  function reject(why: string, known?: string): void {
    if (why !== known) view.warn(`the manifest was not applied${why}`);
    rejected = why;
  }

  async function applySecrets(): Promise<void> {
    try {
      for (const change of await mesh.applySecrets()) view.note(change);
    } catch (error) {
      view.warn(`.env was not applied: ${errorText(error)}; save it again to retry`);
    }
  }

  async function applyPython(): Promise<void> {
    try {
      for (const change of await mesh.applyPython()) view.note(change);
    } catch (error) {
      view.warn(`the Python environment was not applied: ${errorText(error)}; restart the mesh`);
    }
  }
}
