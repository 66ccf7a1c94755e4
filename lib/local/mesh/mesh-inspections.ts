import { spawnSync } from 'node:child_process';
import { systemClock } from '../../adapters/system/system.ts';
import type { ActorSpec, Manifest } from '../../config/manifest/manifest.ts';
import { defined } from '../../core/text/defined.ts';
import { errorText } from '../../core/text/error-text.ts';
import { type Inspection, type Language, openInspection } from '../debugger/inspection.ts';

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
  /** Folder of the sockets of the runtimes. */
  readonly folder: string;
  /** The Python interpreter that runs handlers. */
  readonly python: () => string | undefined;
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
  const language = languageOf(actor, manifest);
  if (language === undefined)
    return { problem: `actor "${actor}" cannot be inspected: no handler of it runs in this mesh` };
  const missing = language === 'python' ? debugpyProblem(actor, python()) : undefined;
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

function languageOf(actor: string, { actors }: Manifest): Language | undefined {
  const runtime = actors.find(({ name }) => name === actor)?.runtime;
  return runtime?.kind === 'node' || runtime?.kind === 'python' ? runtime.kind : undefined;
}

/** Undefined if handlers in Python can be debugged. */
function debugpyProblem(actor: string, python: string | undefined): string | undefined {
  const start = `Python actor "${actor}" cannot be inspected:`;
  if (python === undefined)
    return `${start} Python 3.9 or later was not found on the PATH; install it and start the mesh again`;
  const { status } = spawnSync(python, ['-c', 'import debugpy'], { timeout: 60_000 });
  return status === 0
    ? undefined
    : `${start} debugpy is not installed for ${python}; run ${python} -m pip install debugpy`;
}
