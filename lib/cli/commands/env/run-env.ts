import { resolve } from 'node:path';
import { readMesh } from '../../../assembly/mesh/read-mesh.ts';
import { runningMeshes } from '../../../assembly/mesh/running-mesh.ts';
import type { ActorSpec } from '../../../config/manifest/manifest.ts';
import { suggestion } from '../../../core/text/nearest.ts';
import { EXIT } from '../../exit-status.ts';
import { choiceOption } from '../../options/read-option.ts';
import { invalidMeshText } from '../../output/mistakes.ts';
import { tableText } from '../../output/table.ts';
import type { Terminal } from '../../output/terminal.ts';
import { UsageError } from '../../usage-error.ts';
import { type HandlerVariable, HOSTS, handlerVariables } from './handler-variables.ts';

export interface EnvOptions {
  readonly host: string;
  readonly mesh?: string;
  readonly json?: boolean;
}

/** `asya env`: the variables of a handler, by the same functions that assemble its environment. */
export function runEnv(
  { print, cwd, env }: Terminal,
  { host: hostName, mesh, json = false }: EnvOptions,
  actor: string,
  dir?: string,
): number {
  const host = choiceOption('--host', hostName, HOSTS);
  const folder = dir === undefined ? folderOfMesh(cwd, mesh) : resolve(cwd, dir);
  const { manifest, spec } = readActor(folder, actor);
  const { variables, removed, notes } = handlerVariables({ manifest, spec, folder, host, shell: env });
  if (json) {
    print(JSON.stringify({ actor, host, variables, removed, notes }, null, 2));
    return EXIT.ok;
  }
  print(`handler of "${actor}" on ${host}\n`);
  print(tableText(COLUMNS, variables));
  if (removed.length > 0) print(`\nremoved, because they are credentials: ${removed.join(', ')}`);
  for (const note of notes) print(note);
  return EXIT.ok;
}

const COLUMNS = [
  { title: 'VARIABLE', text: ({ name }: HandlerVariable) => name },
  { title: 'SOURCE', text: ({ source }: HandlerVariable) => source },
  { title: 'VALUE', text: ({ value = '' }: HandlerVariable) => value, most: 60 },
];

function folderOfMesh(cwd: string, name: string | undefined): string {
  const meshes = runningMeshes(cwd);
  const names = meshes.map((mesh) => mesh.name);
  if (name === undefined) return (meshes.length === 1 && meshes[0]?.folder) || cwd;
  const named = meshes.find((mesh) => mesh.name === name);
  if (named !== undefined) return named.folder;
  throw new UsageError(`asya: no mesh "${name}" is running in this folder${suggestion(name, names)}`);
}

function readActor(folder: string, actor: string) {
  const reading = readMesh(folder);
  if ('mistakes' in reading) throw new UsageError(invalidMeshText(reading.mistakes));
  const { manifest } = reading;
  const spec = manifest.actors.find(({ name }) => name === actor);
  if (spec !== undefined) return { manifest, spec };
  const names = manifest.actors.map(({ name }: ActorSpec) => name);
  throw new UsageError(`asya: the mesh has no actor "${actor}"${suggestion(actor, names)}`);
}
