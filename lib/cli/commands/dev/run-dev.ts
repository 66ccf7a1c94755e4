import { relative, resolve } from 'node:path';
import { systemClock } from '../../../adapters/system/system.ts';
import { readMesh } from '../../../assembly/mesh/read-mesh.ts';
import { runningMeshes } from '../../../assembly/mesh/running-mesh.ts';
import type { Manifest } from '../../../config/manifest/manifest.ts';
import { defined } from '../../../core/text/defined.ts';
import { jsonLine } from '../../../core/text/json-line.ts';
import { createFilesPrivately } from '../../../local/engines/private-files.ts';
import { handlerProblems } from '../../../local/mesh/handler-problems.ts';
import type { LocalMesh, MeshEvent } from '../../../local/mesh/local-mesh.ts';
import { readLogLine, repeatFilter } from '../../../local/mesh/log-line.ts';
import { startMesh } from '../../../local/mesh/mesh.ts';
import { type MeshState, meshState } from '../../../local/mesh/mesh-state.ts';
import { EXIT } from '../../exit-status.ts';
import { countText } from '../../output/count-text.ts';
import { type MeshView, plainView, screenView } from '../../output/mesh-view.ts';
import { invalidMeshText } from '../../output/mistakes.ts';
import type { Terminal } from '../../output/terminal.ts';
import { UsageError } from '../../usage-error.ts';
import { attachText, debuggerText } from './debugger-text.ts';
import { type DevOptions, settingsFrom } from './dev-options.ts';
import { followChanges } from './follow-changes.ts';
import { sendExample } from './send-example.ts';
import { type WarningFilter, warningFilter } from './warning-filter.ts';

/** Ctrl-C should take at most 3 s. The other half is for stopping processes and engines on a busy machine. */
const STOP_TIMEOUT_MS = 1_500;
const DEPTHS_INTERVAL_MS = 1_000;
const LOGS_STARTS: readonly string[] = ['debug', 'info'];

/** `asya dev`: runs a mesh on this machine until it is stopped. */
export async function runDev(terminal: Terminal, options: DevOptions, folder: string): Promise<number> {
  const { cwd, printError } = terminal;
  const newWarnings = warningFilter();
  const since = systemClock.now();
  const manifest = readManifest(resolve(cwd, folder), printError, newWarnings);
  const state = meshState(cwd, folder);
  rejectSecondRun(state, cwd);
  const settings = settingsFrom(options, manifest);
  // After all checks: a rejected call must not delete data.
  if (options.fresh) state.empty();
  createFilesPrivately();
  const warning = state.prepare();
  const view = createView(terminal, options, manifest, state.name);
  view.note(`${shownFolder(folder, state)}: starting ${countText(manifest.actors.length, 'actor')}`);
  if (warning !== undefined) view.warn(warning);
  // Installs the signal handlers before anything starts, so that Ctrl-C during the start cleans up too.
  terminal.stop();
  const stored = state.readGateway();
  const started = await startMesh({
    ...settings,
    gateway: { ...settings.gateway, ...defined({ usualPort: stored?.port, key: stored?.key }) },
    manifest,
    folder: resolve(cwd, folder),
    startFolder: cwd,
    dataDir: state.dataDir,
    shell: terminal.env,
    onEvent: eventHandler(state, view, resolve(cwd, folder)),
  });
  if ('problem' in started) {
    printError(`asya: ${started.problem}`);
    return EXIT.failed;
  }
  storeGateway(state, started.mesh, settings.gateway.port ?? stored?.port);
  const read = { folder, since, newWarnings };
  return runUntilStopped(started.mesh, read, state, view, terminal, options.logLevel);
}

/** Keeps the port of earlier starts, even if another process uses it now: clients are configured with it. */
function storeGateway(state: MeshState, { gateway }: LocalMesh, port: number | undefined): void {
  if (gateway === undefined) return;
  state.storeGateway({ port: port ?? Number(new URL(gateway.url).port), key: gateway.key });
}

function rejectSecondRun({ name, meshFile }: MeshState, cwd: string): void {
  const running = runningMeshes(cwd).find((mesh) => mesh.name === name && mesh.pid !== process.pid);
  if (running === undefined) return;
  throw new UsageError(
    `asya: the mesh "${name}" is already running as process ${running.pid}; stop it first, or start this one from another folder (if that process is not a mesh, delete ${relative(cwd, meshFile)})`,
  );
}

async function runUntilStopped(
  mesh: LocalMesh,
  read: { readonly folder: string; readonly since: number; readonly newWarnings: WarningFilter },
  state: MeshState,
  view: MeshView,
  terminal: Terminal,
  logLevel: string,
): Promise<number> {
  const { folder, since, newWarnings } = read;
  const root = resolve(terminal.cwd, folder);
  const announce = () =>
    state.announce({
      folder: root,
      variables: mesh.variables,
      ...defined({ gateway: mesh.gateway }),
      ...namesOf(mesh.manifest()),
    });
  announce();
  view.note(startText(mesh, shownFolder(folder, state)));
  for (const inspection of mesh.inspections) view.pin(attachText(inspection));
  if (mesh.gateway !== undefined) view.pin(`gateway at ${mesh.gateway.url}, key ${mesh.gateway.key}`);
  for (const text of mesh.pythons()) view.note(`handlers run with ${text}`);
  const logsStarts = LOGS_STARTS.includes(logLevel);
  const watch = followChanges({ mesh, root, view, since, newWarnings, logsStarts, announce });
  const stop = terminal.stop();
  process.stdout.on('resize', view.resized);
  const polling = (async () => {
    while (!stop.aborted) {
      view.depths(await mesh.depths());
      await systemClock.sleep(DEPTHS_INTERVAL_MS, stop);
    }
  })();
  try {
    await polling;
    view.note('stopping');
    return EXIT.ok;
  } finally {
    process.stdout.off('resize', view.resized);
    await watch.close();
    await mesh.close(STOP_TIMEOUT_MS);
    state.withdraw();
    view.end();
  }
}

function readManifest(
  folder: string,
  printError: Terminal['printError'],
  newWarnings: WarningFilter,
): Manifest {
  const reading = readMesh(folder, 'warnings');
  for (const text of newWarnings(reading.warnings)) printError(`warning: ${text}`);
  if ('manifest' in reading) return reading.manifest;
  throw new UsageError(invalidMeshText(reading.mistakes));
}

function createView(terminal: Terminal, { plain }: DevOptions, { flows }: Manifest, name: string): MeshView {
  const { print, env } = terminal;
  const canRedraw = terminal.isInteractive && process.stdout.isTTY && env['TERM'] !== 'dumb';
  if (plain || !canRedraw) return plainView(print);
  const [flow] = flows;
  const send = flow === undefined ? '' : ` · send an envelope: npx asya ${sendExample(flow)}`;
  const hint = `Ctrl-C stops${send}`;
  return screenView(
    `asya dev · ${name}`,
    hint,
    (text) => process.stdout.write(text),
    // Some terminals report a size of 0.
    () => ({ columns: process.stdout.columns || 80, rows: process.stdout.rows || 24 }),
  );
}

function eventHandler(state: MeshState, view: MeshView, root: string): (event: MeshEvent) => void {
  const isNew = repeatFilter();
  const problemIn = handlerProblems();
  return (event) => {
    if (event.event === 'warning') view.warn(event.text);
    if (event.event === 'problem') view.problem(event.actor, shortProblem(event.problem, root));
    if (event.event === 'debugger') view.note(debuggerText(event.actor, event.isAttached));
    if (event.event !== 'line') return;
    const line = readLogLine(event.actor, event.line);
    if (line === undefined) return;
    const found = problemIn(line);
    if (found !== undefined) view.problem(found.actor, shortProblem(found.problem, root));
    state.log(jsonLine(line));
    if (isNew(line)) view.line(line);
  };
}

/** A problem for the table: without the name of the handler, and with paths inside the mesh's folder. */
function shortProblem(problem: string | undefined, root: string): string | undefined {
  return problem
    ?.replace(/^cannot host "[^"]*": /, 'cannot load: ')
    .replace(/^actor "[^"]*" waits, .*?: /, 'waits: ')
    .replaceAll(`${root}/`, '');
}

function namesOf({ actors, flows }: Manifest) {
  return {
    actors: actors.map(({ name }) => name),
    flows: flows.map(({ name, entrypoint, routeNext, timeoutSeconds }) => ({
      name,
      entrypoint,
      routeNext,
      ...defined({ timeoutSeconds }),
    })),
  };
}

/** The folder as it was typed, or the name of the mesh if that says nothing. */
function shownFolder(folder: string, { name }: MeshState): string {
  return folder === '.' ? name : folder;
}

function startText(mesh: LocalMesh, folder: string): string {
  const { actors, flows } = mesh.manifest();
  const names = flows.map(({ name }) => name).join(', ');
  return `${folder}: ${countText(actors.length, 'actor')}${names === '' ? '' : `, flows ${names}`}, on ${mesh.description}`;
}
