import { randomUUID } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { readMesh } from '../../../assembly/mesh/read-mesh.ts';
import type { RunningFlow } from '../../../assembly/mesh/running-mesh.ts';
import { isRoutableName } from '../../../core/envelope/actor-name.ts';
import { encode } from '../../../core/envelope/encode.ts';
import type { Envelope } from '../../../core/envelope/envelope.ts';
import { FLOW, NO_HEADERS, withHeader } from '../../../core/envelope/headers.ts';
import { describeJsonError, type JsonText, readJson } from '../../../core/text/json-text.ts';
import { suggestion } from '../../../core/text/nearest.ts';
import { timestampText } from '../../../core/text/timestamp.ts';
import { EXIT } from '../../exit-status.ts';
import { type Operator, withOperator } from '../../operator.ts';
import { durationOption } from '../../options/read-option.ts';
import { invalidMeshText } from '../../output/mistakes.ts';
import { oneLine } from '../../output/plain-text.ts';
import type { Terminal } from '../../output/terminal.ts';
import { UsageError } from '../../usage-error.ts';
import { awaitRun } from './await-run.ts';

interface SendOptions {
  readonly payload: string;
  readonly id?: string;
  readonly wait?: boolean;
  readonly folder?: string;
  readonly timeout: string;
  readonly mesh?: string;
}

/** `asya send`: sends an envelope, and with `--wait` prints the final payload of each end. */
export function runSend(terminal: Terminal, options: SendOptions, target: string): Promise<number> {
  const payload = payloadFrom(options.payload, terminal.cwd);
  const waitMs = durationOption('--timeout', options.timeout);
  if (options.id === '') throw new UsageError('asya: --id is empty; omit it to get a new id');
  return withOperator(terminal, options, (operator) =>
    send(target, payload, { ...options, waitMs }, operator, terminal),
  );
}

async function send(
  target: string,
  payload: JsonText,
  options: SendOptions & { readonly waitMs: number },
  operator: Operator,
  terminal: Terminal,
): Promise<number> {
  const { print, printError, now, cwd } = terminal;
  const names = namesFrom(operator, options, cwd);
  const envelope = envelopeFor(target, payload, options.id ?? randomUUID(), names, now());
  if (names.actors === undefined && !names.flows.some(({ name }) => name === target)) {
    const check = await operator.checkQueue(target);
    if (!check.ok && check.isQueueMissing)
      throw new UsageError(`asya: no actor "${target}" has a queue in this mesh${flowHint(target, names)}`);
  }
  const reply = await operator.send(envelope.route.curr, encode(envelope));
  if (!reply.ok) {
    printError(`asya: not sent: ${reply.problem}`);
    return EXIT.failed;
  }
  if (!options.wait) {
    print(envelope.id);
    return EXIT.ok;
  }
  return awaitRun(envelope.id, options.waitMs, operator, terminal);
}

interface Names {
  readonly flows: readonly RunningFlow[];
  /** Undefined if they are not known: then every valid name may be an actor. */
  readonly actors?: readonly string[];
}

/**
 * The flows and actors of the mesh on this machine, or of the folder that describes a mesh on AWS. The current folder
 * describes flows only: a mesh on AWS may have other actors.
 */
function namesFrom({ mesh }: Operator, { folder }: SendOptions, cwd: string): Names {
  if (folder === undefined && mesh !== undefined) return mesh;
  const reading = readMesh(resolve(cwd, folder ?? '.'), 'ignored');
  if ('mistakes' in reading) {
    if (folder === undefined) return { flows: [] };
    throw new UsageError(invalidMeshText(reading.mistakes));
  }
  const { actors, flows } = reading.manifest;
  return { flows, ...(folder !== undefined && { actors: actors.map(({ name }) => name) }) };
}

function flowHint(target: string, { flows }: Names): string {
  if (flows.length === 0)
    return "; to send along a flow, run the command in the mesh's folder or pass --folder";
  const names = flows.map(({ name }) => name);
  return suggestion(target, names) || `; the flows are ${names.join(', ')}`;
}

/** For a flow: its route, with its deadline. For an actor: a route of that actor only. */
function envelopeFor(
  target: string,
  payload: JsonText,
  id: string,
  { flows, actors }: Names,
  now: number,
): Envelope {
  const flow = flows.find(({ name }) => name === target);
  if (flow !== undefined) return flowEnvelope(flow, payload, id, now);
  const isActor = actors === undefined ? isRoutableName(target) : actors.includes(target);
  if (!isActor) {
    const names = [...flows.map(({ name }) => name), ...(actors ?? [])];
    const hint =
      suggestion(target, names) || (names.length === 0 ? '' : `; the mesh has ${names.join(', ')}`);
    throw new UsageError(`asya: no flow or actor is named "${target}"${hint}`);
  }
  return { id, route: { prev: [], curr: target, next: [] }, headers: NO_HEADERS, payload, extra: new Map() };
}

function flowEnvelope(flow: RunningFlow, payload: JsonText, id: string, now: number): Envelope {
  const { name, entrypoint, routeNext, timeoutSeconds } = flow;
  return {
    id,
    route: { prev: [], curr: entrypoint, next: routeNext },
    headers: withHeader(NO_HEADERS, FLOW, name),
    payload,
    ...(timeoutSeconds !== undefined && {
      status: { deadline_at: timestampText(now + timeoutSeconds * 1000) },
    }),
    extra: new Map(),
  };
}

function payloadFrom(given: string, cwd: string): JsonText {
  const isPiped = given === '-';
  const isFile = isPiped || existsSync(resolve(cwd, given));
  const text = isFile ? readText(isPiped ? 0 : resolve(cwd, given), given) : given;
  const json = readJson(text);
  if (json.kind !== 'invalid') return json.text;
  const problem = describeJsonError(text, json.at);
  throw new UsageError(
    isFile
      ? `asya: --payload: ${isPiped ? 'stdin' : given} is not JSON: ${problem}`
      : `asya: --payload is "${oneLine(given, 100)}", which is neither JSON (${problem}) nor a file`,
  );
}

function readText(file: string | number, given: string): string {
  try {
    // Fatal: a lenient decoder would silently replace invalid bytes.
    return new TextDecoder('utf-8', { fatal: true }).decode(readFileSync(file));
  } catch (error) {
    throw new UsageError(`asya: --payload: ${given} cannot be read: ${(error as Error).message}`);
  }
}
