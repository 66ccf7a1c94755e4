import { relative, resolve } from 'node:path';
import { readMesh } from '../../../assembly/mesh/read-mesh.ts';
import { runningMeshes } from '../../../assembly/mesh/running-mesh.ts';
import type { Manifest } from '../../../config/manifest/manifest.ts';
import { defined } from '../../../core/text/defined.ts';
import { errorText } from '../../../core/text/error-text.ts';
import { jsonLine } from '../../../core/text/json-line.ts';
import { type Mistake, mistakesText } from '../../../core/text/mistake.ts';
import { createFilesPrivately } from '../../../local/engines/private-files.ts';
import { readLogLine, withoutRepeats } from '../../../local/mesh/log-line.ts';
import { type LocalMesh, type MeshEvent, startMesh } from '../../../local/mesh/mesh.ts';
import { type MeshState, meshState } from '../../../local/mesh/mesh-state.ts';
import { watchFolder } from '../../../local/mesh/watch-folder.ts';
import { EXIT } from '../../exit.ts';
import { type MeshView, plainView, screenView } from '../../output/mesh-view.ts';
import type { Terminal } from '../../output/terminal.ts';
import { UsageError } from '../../usage-error.ts';
import { sendExample } from './send-example.ts';

export interface DevOptions {
  readonly fresh?: boolean;
  readonly transport: string;
  readonly sqsPort?: string;
  readonly dynamodbPort?: string;
  readonly gatewayPort?: string;
  readonly replicas: string;
  readonly logLevel: string;
  readonly plain?: boolean;
}

/** In all, Ctrl-C has three seconds: the other half is for ending the processes and the engines on a busy machine. */
const STOP_WITHIN_MS = 1_500;
const LOOK_EVERY_MS = 1_000;

/** `asya dev`: a mesh's folder at work on this machine until told to stop. */
export async function runDev(folder: string, options: DevOptions, terminal: Terminal): Promise<number> {
  const { cwd, say } = terminal;
  const manifest = readOrRefuse(resolve(cwd, folder), say);
  const state = meshState(cwd, folder);
  refuseSecond(state, cwd);
  const told = {
    transport: transportOption(options.transport),
    ...portOption('sqsPort', '--sqs-port', options.sqsPort),
    ...portOption('dynamodbPort', '--dynamodb-port', options.dynamodbPort),
    gateway: portOption('port', '--gateway-port', options.gatewayPort),
    replicas: wholeOption('--replicas', options.replicas),
    logLevel: levelOption(options.logLevel),
  };
  // Only now: a call that is refused throws nothing away.
  if (options.fresh) state.empty();
  createFilesPrivately();
  const warning = state.prepare();
  const view = viewOn(terminal, options, manifest, state.name);
  view.note(`${folder}: ${counted(manifest.actors.length, 'actor')} to start`);
  if (warning !== undefined) view.trouble(warning);
  // Before anything is started: whoever stops it in the middle of that is to find nothing left behind either.
  terminal.stop();
  const started = await startMesh({
    ...told,
    manifest,
    folder: resolve(cwd, folder),
    dataDir: state.dataDir,
    tell: teller(state, view),
  });
  if ('problem' in started) {
    say(`asya: ${started.problem}`);
    return EXIT.failed;
  }
  return work(started.mesh, folder, state, view, terminal);
}

function refuseSecond({ name, meshFile }: MeshState, cwd: string): void {
  const running = runningMeshes(cwd).find((mesh) => mesh.name === name && mesh.pid !== process.pid);
  if (running === undefined) return;
  throw new UsageError(
    `asya: the mesh "${name}" runs already, as process ${running.pid}; stop it first, or start this one from another folder (if that process is something else, remove ${relative(cwd, meshFile)})`,
  );
}

async function work(
  mesh: LocalMesh,
  folder: string,
  state: MeshState,
  view: MeshView,
  terminal: Terminal,
): Promise<number> {
  const root = resolve(terminal.cwd, folder);
  const announce = () =>
    state.announce({
      folder: root,
      variables: mesh.variables,
      ...defined({ gateway: mesh.gateway }),
      ...namesOf(mesh.manifest()),
    });
  announce();
  view.note(startWords(mesh, folder));
  if (mesh.gateway !== undefined) view.keep(`gateway at ${mesh.gateway.url}, key ${mesh.gateway.key}`);
  let isRefused = false;
  const watch = watchFolder(root, mesh.manifest, {
    onManifest: async () => {
      const reading = readMesh(root);
      if ('mistakes' in reading) {
        isRefused = true;
        view.trouble(`the manifest was not taken over:\n${mistakesText(reading.mistakes)}`);
        return;
      }
      try {
        for (const words of await mesh.apply(reading.manifest)) view.note(words);
        announce();
        if (isRefused) view.note('the manifest is in order again');
        isRefused = false;
      } catch (error) {
        isRefused = true;
        const why = errorText(error);
        view.trouble(`the manifest was not taken over: ${why}; save it again to try again`);
      }
    },
    onHandlers: (actors) => {
      for (const actor of actors) {
        mesh.renew(actor);
        view.note(`${actor} starts again with its new code`);
      }
    },
  });
  const stop = terminal.stop();
  const looking = (async () => {
    while (!stop.aborted) {
      view.depths(await mesh.depths());
      await pause(LOOK_EVERY_MS, stop);
    }
  })();
  try {
    await looking;
    view.note('stopping');
    return EXIT.fine;
  } finally {
    await watch.close();
    await mesh.close(STOP_WITHIN_MS);
    state.withdraw();
    view.end();
  }
}

function readOrRefuse(folder: string, say: (words: string) => void): Manifest {
  const reading = readMesh(folder);
  const warn = ({ place, problem }: Mistake) => say(`warning: ${place}: ${problem}`);
  reading.warnings.forEach(warn);
  if ('manifest' in reading) return reading.manifest;
  const { mistakes } = reading;
  const count = mistakes.length === 1 ? 'a mistake' : `${mistakes.length} mistakes`;
  throw new UsageError(`asya: ${count} in the mesh\n${mistakesText(mistakes).replace(/^/gm, '  ')}`);
}

function viewOn(terminal: Terminal, { plain }: DevOptions, { flows }: Manifest, name: string): MeshView {
  const { print, env } = terminal;
  const isScreen = terminal.isInteractive && process.stdout.isTTY && env['TERM'] !== 'dumb';
  if (plain || !isScreen) return plainView(print);
  const [flow] = flows;
  const send = flow === undefined ? '' : ` · send one: npx asya ${sendExample(flow)}`;
  const hint = `Ctrl-C stops${send}`;
  return screenView(
    `asya dev · ${name}`,
    hint,
    (text) => process.stdout.write(text),
    // A terminal that does not know its size says 0.
    () => ({ columns: process.stdout.columns || 80, rows: process.stdout.rows || 24 }),
  );
}

function teller(state: MeshState, view: MeshView): (event: MeshEvent) => void {
  const isNew = withoutRepeats();
  return (event) => {
    if (event.event === 'trouble') view.trouble(event.words);
    if (event.event !== 'line') return;
    const line = readLogLine(event.actor, event.line);
    if (line === undefined) return;
    state.log(jsonLine(line));
    if (isNew(line)) view.line(line);
  };
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

function startWords(mesh: LocalMesh, folder: string): string {
  const { actors, flows } = mesh.manifest();
  const names = flows.map(({ name }) => name).join(', ');
  return `${folder}: ${counted(actors.length, 'actor')}${names === '' ? '' : `, flows ${names}`}, on ${mesh.words}`;
}

function counted(count: number, thing: string): string {
  return `${count} ${thing}${count === 1 ? '' : 's'}`;
}

function pause(milliseconds: number, stop: AbortSignal): Promise<void> {
  return new Promise((done) => {
    const finish = () => {
      clearTimeout(timer);
      stop.removeEventListener('abort', finish);
      done();
    };
    const timer = setTimeout(finish, milliseconds);
    stop.addEventListener('abort', finish);
    if (stop.aborted) finish();
  });
}

function portOption<Key extends string>(
  key: Key,
  name: string,
  text: string | undefined,
): { [K in Key]?: number } {
  return (text === undefined ? {} : { [key]: wholeOption(name, text, 65_535) }) as { [K in Key]?: number };
}

function wholeOption(name: string, text: string, most = 1_000): number {
  const number = /^\d{1,5}$/.test(text) ? Number(text) : 0;
  if (number < 1 || number > most)
    throw new UsageError(`asya: ${name} is "${text}"; it takes a whole number from 1 to ${most}`);
  return number;
}

const TRANSPORTS = ['sqs', 'pubsub'] as const;

function transportOption(text: string): (typeof TRANSPORTS)[number] {
  const transport = TRANSPORTS.find((one) => one === text);
  if (transport === undefined)
    throw new UsageError(
      `asya: --transport is "${text}"; a mesh on this machine runs on ${TRANSPORTS.join(' or ')}`,
    );
  return transport;
}

const LEVELS = ['debug', 'info', 'warn', 'error'] as const;

function levelOption(text: string): (typeof LEVELS)[number] {
  const level = LEVELS.find((one) => one === text);
  if (level === undefined)
    throw new UsageError(`asya: --log-level is "${text}"; it takes one of ${LEVELS.join(', ')}`);
  return level;
}
