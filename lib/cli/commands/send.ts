import { randomUUID } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import type { Command } from 'commander';
import { deriveId, systemClock } from '../../adapters/system/system.ts';
import type { RunningFlow } from '../../assembly/mesh/running-mesh.ts';
import { isRoutableName } from '../../core/envelope/actor-name.ts';
import { decode } from '../../core/envelope/decode.ts';
import { encode } from '../../core/envelope/encode.ts';
import type { Envelope } from '../../core/envelope/envelope.ts';
import { FLOW, NO_HEADERS, withHeader } from '../../core/envelope/headers.ts';
import { describeJsonError, type JsonText, readJson } from '../../core/text/json-text.ts';
import { suggestion } from '../../core/text/nearest.ts';
import { timestampText } from '../../core/text/timestamp.ts';
import { EXIT } from '../exit.ts';
import { durationOption } from '../filter-options.ts';
import { type Operator, withOperator } from '../operator.ts';
import { escaped, oneLine, shellWord } from '../output/plain-text.ts';
import type { Terminal } from '../output/terminal.ts';
import { UsageError } from '../usage-error.ts';

interface SendOptions {
  readonly payload: string;
  readonly id?: string;
  readonly wait?: boolean;
  readonly timeout: string;
  readonly mesh?: string;
}

export function addSend(program: Command, terminal: Terminal, exit: (status: number) => void): void {
  program
    .command('send')
    .argument('<FLOW|ACTOR>', 'a flow, or a single actor')
    .description('sends an envelope, and with --wait prints what came of it')
    .option('--payload <payload>', 'JSON, a file that holds it, or - for what is piped in', '{}')
    .option('--id <id>', "the envelope's id; a new one without")
    .option('--wait', 'waits for the end and prints the payload it ended with')
    .option('--timeout <duration>', 'how long --wait waits', '1m')
    .option('--mesh <name>', 'to this mesh, where several run here')
    .addHelpText(
      'after',
      `
Examples:
  asya send hello --payload '{"name":"you"}' --wait
  asya send greet --payload picture.json
  cat picture.json | asya send image-enhance --payload - --wait

Exit status: 0 sent, and with --wait ended well; 1 not sent, failed, or no end in time; 2 called wrongly.`,
    )
    .action(async (target: string, options: SendOptions) => {
      const payload = payloadFrom(options.payload, terminal.cwd);
      const waitMs = durationOption('--timeout', options.timeout);
      if (options.id === '') throw new UsageError('asya: --id is empty; leave it out for a new one');
      exit(
        await withOperator(terminal, options, (operator) =>
          send(target, payload, { ...options, waitMs }, operator, terminal),
        ),
      );
    });
}

async function send(
  target: string,
  payload: JsonText,
  options: SendOptions & { readonly waitMs: number },
  operator: Operator,
  { print, say, now }: Terminal,
): Promise<number> {
  const envelope = envelopeFor(target, payload, options.id ?? randomUUID(), operator, now());
  const reply = await operator.send(envelope.route.curr, encode(envelope));
  if (!reply.ok) {
    say(`asya: not sent: ${reply.problem}`);
    return EXIT.failed;
  }
  if (!options.wait) {
    print(envelope.id);
    return EXIT.fine;
  }
  const end = await untilEnded(envelope.id, Date.now() + options.waitMs, operator);
  if ('problem' in end) {
    say(`asya: ${oneLine(envelope.id)}: ${end.problem}`);
    return EXIT.failed;
  }
  if (end.phase === 'succeeded') {
    print(escaped(end.envelope.payload));
    return EXIT.fine;
  }
  const tells = `; asya failures show ${shellWord(oneLine(envelope.id))} tells why`;
  say(`asya: ${oneLine(envelope.id)} ${end.phase}: ${oneLine(end.reason)}${isForList(end) ? tells : ''}`);
  return EXIT.failed;
}

/** Along the flow's route and with its deadline; or to one actor alone. */
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
    throw new UsageError(`asya: there is no flow or actor "${target}"${suggestion(target, names)}`);
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

const LOOK_EVERY_MS = 200;

async function untilEnded(id: string, givesUpAt: number, { stores }: Operator): Promise<Ended> {
  for (;;) {
    const isLate = Date.now() >= givesUpAt;
    const ends = await stores.records.ofEnvelope(id);
    if (!ends.ok) return { problem: ends.problem };
    const [record] = ends.records;
    const kept = record === undefined ? undefined : await stores.archive.get(record.archiveKey);
    if (record !== undefined && kept?.ok && kept.text !== undefined) {
      const { envelope } = decode(kept.text, { actor: record.actor, messageId: id, deriveId });
      const end = { phase: record.end, reason: record.reason, envelope };
      if (isLate || !isForList(end) || (await isListed(id, stores))) return end;
    }
    if (isLate) {
      return {
        problem: `no end yet; asya watch ${shellWord(oneLine(id))} follows it, --timeout waits longer`,
      };
    }
    await systemClock.sleep(LOOK_EVERY_MS);
  }
}

function isForList({ phase, reason }: { readonly phase: string; readonly reason: string }): boolean {
  return phase === 'failed' && reason !== 'Dropped';
}

/** x-sump lists what failed a moment after x-sink has told its end; whoever is sent there is to find it. */
async function isListed(id: string, { failures }: Operator['stores']): Promise<boolean> {
  const page = await failures.ofEnvelope(id);
  return !page.ok || page.failures.length > 0;
}

function payloadFrom(given: string, cwd: string): JsonText {
  const isPiped = given === '-';
  const isFile = isPiped || existsSync(resolve(cwd, given));
  const text = isFile ? readText(isPiped ? 0 : resolve(cwd, given), given) : given;
  const json = readJson(text);
  if (json.kind !== 'invalid') return json.text;
  const what = isFile ? `${isPiped ? 'what was piped in' : given} is no JSON` : 'is neither JSON nor a file';
  throw new UsageError(`asya: --payload: ${what}: ${describeJsonError(text, json.at)}`);
}

function readText(file: string | number, given: string): string {
  try {
    // Nothing in it is replaced in silence.
    return new TextDecoder('utf-8', { fatal: true }).decode(readFileSync(file));
  } catch (error) {
    throw new UsageError(`asya: --payload: ${given} cannot be read: ${(error as Error).message}`);
  }
}
