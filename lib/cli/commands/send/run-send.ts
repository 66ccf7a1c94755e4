import { randomUUID } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { deriveId, systemClock } from '../../../adapters/system/system.ts';
import type { RunningFlow } from '../../../assembly/mesh/running-mesh.ts';
import { isRoutableName } from '../../../core/envelope/actor-name.ts';
import { decode } from '../../../core/envelope/decode.ts';
import { encode } from '../../../core/envelope/encode.ts';
import type { Envelope } from '../../../core/envelope/envelope.ts';
import { FLOW, NO_HEADERS, withHeader } from '../../../core/envelope/headers.ts';
import { describeJsonError, type JsonText, readJson } from '../../../core/text/json-text.ts';
import { suggestion } from '../../../core/text/nearest.ts';
import { timestampText } from '../../../core/text/timestamp.ts';
import { EXIT } from '../../exit-status.ts';
import { type Operator, withOperator } from '../../operator.ts';
import { durationOption } from '../../options/read-option.ts';
import { escaped, oneLine, shellWord } from '../../output/plain-text.ts';
import type { Terminal } from '../../output/terminal.ts';
import { UsageError } from '../../usage-error.ts';

interface SendOptions {
  readonly payload: string;
  readonly id?: string;
  readonly wait?: boolean;
  readonly timeout: string;
  readonly mesh?: string;
}

/** `asya send`: sends an envelope, and with `--wait` prints its final payload. */
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
  { print, printError, now }: Terminal,
): Promise<number> {
  const envelope = envelopeFor(target, payload, options.id ?? randomUUID(), operator, now());
  const reply = await operator.send(envelope.route.curr, encode(envelope));
  if (!reply.ok) {
    printError(`asya: not sent: ${reply.problem}`);
    return EXIT.failed;
  }
  if (!options.wait) {
    print(envelope.id);
    return EXIT.ok;
  }
  const end = await untilEnded(envelope.id, Date.now() + options.waitMs, operator);
  if ('problem' in end) {
    printError(`asya: ${oneLine(envelope.id)}: ${end.problem}`);
    return EXIT.failed;
  }
  if (end.phase === 'succeeded') {
    print(escaped(end.envelope.payload));
    return EXIT.ok;
  }
  const hint = `; for details run asya failures show ${shellWord(oneLine(envelope.id))}`;
  printError(
    `asya: ${oneLine(envelope.id)} ${end.phase}: ${oneLine(end.reason)}${isInIndex(end) ? hint : ''}`,
  );
  return EXIT.failed;
}

/** For a flow: its route, with its deadline. For an actor: a route of that actor only. */
function envelopeFor(
  target: string,
  payload: JsonText,
  id: string,
  { mesh }: Operator,
  now: number,
): Envelope {
  const flow = mesh?.flows.find(({ name }) => name === target);
  if (flow !== undefined) return flowEnvelope(flow, payload, id, now);
  const isActor = mesh === undefined ? isRoutableName(target) : mesh.actors.includes(target);
  if (!isActor) {
    const names = [...(mesh?.flows.map(({ name }) => name) ?? []), ...(mesh?.actors ?? [])];
    throw new UsageError(`asya: no flow or actor is named "${target}"${suggestion(target, names)}`);
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

type Ended =
  | {
      readonly phase: 'succeeded' | 'failed' | 'canceled';
      readonly reason: string;
      readonly envelope: Envelope;
    }
  | { readonly problem: string };

const POLL_INTERVAL_MS = 200;

async function untilEnded(id: string, deadline: number, { stores }: Operator): Promise<Ended> {
  for (;;) {
    const isLate = Date.now() >= deadline;
    const ends = await stores.records.ofEnvelope(id);
    if (!ends.ok) return { problem: ends.problem };
    const [record] = ends.records;
    const archived = record === undefined ? undefined : await stores.archive.get(record.archiveKey);
    if (record !== undefined && archived?.ok && archived.text !== undefined) {
      const { envelope } = decode(archived.text, { actor: record.actor, messageId: id, deriveId });
      const end = { phase: record.end, reason: record.reason, envelope };
      if (isLate || !isInIndex(end) || (await isIndexed(id, stores))) return end;
    }
    if (isLate) {
      return {
        problem: `not ended yet; follow it with asya watch ${shellWord(oneLine(id))}, or pass a longer --timeout`,
      };
    }
    await systemClock.sleep(POLL_INTERVAL_MS);
  }
}

/** x-sump does not index dropped envelopes. */
function isInIndex({ phase, reason }: { readonly phase: string; readonly reason: string }): boolean {
  return phase === 'failed' && reason !== 'Dropped';
}

/** x-sump indexes a failure shortly after x-sink records the end. The hint must not point to a missing entry. */
async function isIndexed(id: string, { failures }: Operator['stores']): Promise<boolean> {
  const page = await failures.ofEnvelope(id);
  return !page.ok || page.failures.length > 0;
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
