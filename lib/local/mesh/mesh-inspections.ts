import { spawnSync } from 'node:child_process';
import { systemClock } from '../../adapters/system/system.ts';
import type { ActorSpec, Manifest } from '../../config/manifest/manifest.ts';
import { defined } from '../../core/text/defined.ts';
import { errorText } from '../../core/text/error-text.ts';
import { type Inspection, type Language, openInspection } from '../debugger/inspection.ts';
import type { PythonSearch } from './find-python.ts';

/** An actor to debug. It runs in one instance. */
export interface InspectedActor {
  readonly actor: string;
  /**
   * The port for debuggers.
   * @default 9229 for Node and 5678 for Python, or the next free one
   */
  readonly port?: number;
}

export interface InspectionsOptions {
  readonly manifest: Manifest;
  readonly inspect: readonly InspectedActor[];
  /** Folder of the files in which the handlers' processes announce their debuggers' ports. */
  readonly folder: string;
  /** The Python that runs the handler of an actor. Undefined if it does not need one. */
  readonly python: (actor: ActorSpec) => PythonSearch | undefined;
  readonly onChange: (actor: string, isAttached: boolean) => void;
}

/** Opens the debug ports of a mesh, by actor. */
export async function openInspections(
  options: InspectionsOptions,
): Promise<{ inspections: ReadonlyMap<string, Inspection> } | { problem: string }> {
  const inspections = new Map<string, Inspection>();
  for (const wanted of options.inspect) {
    const opened = await openOne(wanted, options);
    if ('problem' in opened) {
      await Promise.all([...inspections.values()].map((one) => one.close()));
      return opened;
    }
    inspections.set(wanted.actor, opened.inspection);
  }
  return { inspections };
}

/** How an actor can be debugged. After a change of its language it cannot: its debuggers speak another protocol. */
export function inspectionOf(
  spec: ActorSpec | undefined,
  inspections: ReadonlyMap<string, Inspection>,
): { readonly inspection?: Inspection; readonly warning?: string } {
  const inspection = inspections.get(spec?.name ?? '');
  if (spec === undefined || inspection === undefined) return {};
  if (inspection.language === spec.runtime.kind) return { inspection };
  return {
    warning: `actor "${spec.name}" cannot be inspected any more, because the language of its handler has changed; start the mesh again`,
  };
}

async function openOne(
  { actor, port }: InspectedActor,
  { manifest, folder, python, onChange }: InspectionsOptions,
): Promise<{ inspection: Inspection } | { problem: string }> {
  const spec = manifest.actors.find(({ name }) => name === actor);
  const language = languageOf(spec);
  if (spec === undefined || language === undefined)
    return { problem: `actor "${actor}" cannot be inspected: no handler of it runs in this mesh` };
  const missing = language === 'python' ? debugpyProblem(actor, python(spec)) : undefined;
  if (missing !== undefined) return { problem: missing };
  try {
    const inspection = await openInspection({
      actor,
      language,
      ...defined({ port }),
      folder,
      clock: systemClock,
      onChange: (isAttached) => onChange(actor, isAttached),
    });
    return { inspection };
  } catch (error) {
    const why =
      (error as NodeJS.ErrnoException).code === 'EADDRINUSE'
        ? 'the port is already in use'
        : errorText(error);
    const where = port === undefined ? 'any of the usual ports' : `port ${port}`;
    return {
      problem: `the debugger of "${actor}" cannot listen on ${where} of 127.0.0.1: ${why}; choose another port with --inspect ${actor}=PORT`,
    };
  }
}

function languageOf(spec: ActorSpec | undefined): Language | undefined {
  const kind = spec?.runtime.kind;
  return kind === 'node' || kind === 'python' ? kind : undefined;
}

/** Undefined if handlers in Python can be debugged. */
function debugpyProblem(actor: string, search: PythonSearch | undefined): string | undefined {
  const start = `Python actor "${actor}" cannot be inspected:`;
  if (search === undefined || 'problem' in search) return `${start} ${search?.problem ?? 'it has no Python'}`;
  const { python } = search;
  const { status } = spawnSync(python, ['-c', 'import debugpy'], { timeout: 60_000 });
  return status === 0
    ? undefined
    : `${start} debugpy is not installed for ${python}; run ${python} -m pip install debugpy`;
}
