import { resolve } from 'node:path';
import { readMesh } from '../../../assembly/mesh/read-mesh.ts';
import { runningMeshes, startFolderOf } from '../../../assembly/mesh/running-mesh.ts';
import type { ActorSpec } from '../../../config/manifest/manifest.ts';
import { suggestion } from '../../../core/text/nearest.ts';
import { EXIT } from '../../exit-status.ts';
import { choiceOption } from '../../options/read-option.ts';
import { invalidMeshText } from '../../output/mistakes.ts';
import { tableText } from '../../output/table.ts';
import type { Terminal } from '../../output/terminal.ts';
import { UsageError } from '../../usage-error.ts';
import {
  type HandlerVariable,
  type HandlerVariables,
  HOSTS,
  type HostName,
  handlerVariables,
} from './handler-variables.ts';

export interface EnvOptions {
  readonly host?: string;
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
  const hosts = hostName === undefined ? HOSTS : [choiceOption('--host', hostName, HOSTS)];
  const { folder, startFolder } =
    dir === undefined ? foldersOfMesh(cwd, mesh) : { folder: resolve(cwd, dir), startFolder: cwd };
  const { manifest, spec } = readActor(folder, actor);
  const found = hosts.map((host): [HostName, HandlerVariables] => [
    host,
    handlerVariables({ manifest, spec, folder, startFolder, host, shell: env }),
  ]);
  if (json) print(JSON.stringify({ actor, hosts: Object.fromEntries(found) }, null, 2));
  else print(textOf(actor, found));
  return EXIT.ok;
}

function textOf(actor: string, found: readonly [HostName, HandlerVariables][]): string {
  const removed = [...new Set(found.flatMap(([, one]) => one.removed))].toSorted();
  const notes = [...new Set(found.flatMap(([, one]) => one.notes))];
  const hasVariables = found.some(([, { variables }]) => variables.length > 0);
  return [
    `handler of "${actor}" on ${found.map(([host]) => host).join(', ')}`,
    '',
    ...(hasVariables ? [found.length === 1 ? listText(found[0]?.[1]) : matrixText(found), ''] : []),
    ...(removed.length > 0 ? [`never passed, because they are credentials: ${removed.join(', ')}`] : []),
    ...notes,
  ].join('\n');
}

function listText({ variables }: HandlerVariables = { variables: [], removed: [], notes: [] }): string {
  return tableText<HandlerVariable>(
    [
      { title: 'VARIABLE', text: ({ name }) => name },
      { title: 'SOURCE', text: ({ source }) => source },
      { title: 'VALUE', text: ({ value = '' }) => value, most: 60 },
    ],
    variables,
  );
}

/** One row per variable, one column per host. */
function matrixText(found: readonly [HostName, HandlerVariables][]): string {
  const names = [...new Set(found.flatMap(([, { variables }]) => variables.map(({ name }) => name)))];
  const columns = found.map(([host, { variables }]) => {
    const origins = new Map(variables.map(({ name, origin }) => [name, origin]));
    return { title: host.toUpperCase(), text: (name: string) => origins.get(name) ?? '-' };
  });
  return tableText([{ title: 'VARIABLE', text: (name: string) => name }, ...columns], names);
}

interface MeshFolders {
  readonly folder: string;
  readonly startFolder: string;
}

function foldersOfMesh(cwd: string, name: string | undefined): MeshFolders {
  const meshes = runningMeshes(cwd);
  const names = meshes.map((mesh) => mesh.name);
  const found =
    name === undefined && meshes.length === 1 ? meshes[0] : meshes.find((mesh) => mesh.name === name);
  if (found !== undefined) return { folder: found.folder, startFolder: startFolderOf(found) };
  if (name === undefined) return { folder: cwd, startFolder: cwd };
  throw new UsageError(`asya: no mesh "${name}" is running in this folder${suggestion(name, names)}`);
}

function readActor(folder: string, actor: string) {
  const reading = readMesh(folder, 'ignored');
  if ('mistakes' in reading) throw new UsageError(invalidMeshText(reading.mistakes));
  const { manifest } = reading;
  const spec = manifest.actors.find(({ name }) => name === actor);
  if (spec !== undefined) return { manifest, spec };
  const names = manifest.actors.map(({ name }: ActorSpec) => name);
  throw new UsageError(`asya: the mesh has no actor "${actor}"${suggestion(actor, names)}`);
}
