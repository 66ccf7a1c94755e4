import { deriveId } from '../adapters/system/system.ts';
import { type Prepared, prepareReplay } from '../app/prepare-replay.ts';
import { type ReplayOptions, replayedBefore } from '../app/replay.ts';
import type { Stores } from '../assembly/crew-from-config.ts';
import type { Failure } from '../core/failure.ts';
import { EXIT } from './exit.ts';
import { type Column, tableText } from './table.ts';
import type { Terminal } from './terminal.ts';

interface DryRun {
  readonly payload?: boolean;
  readonly json?: boolean;
}

/** Long enough to see what is meant; the rest is counted. */
const SHOWN = 20;

/** What would be sent, where and with which deadline. Nothing is. */
export async function printDryRun(
  failures: readonly Failure[],
  options: ReplayOptions,
  { payload = false, json = false }: DryRun,
  { archive }: Stores,
  { print, say, now }: Terminal,
): Promise<number> {
  const looked = json ? failures : failures.slice(0, SHOWN);
  const prepared: Prepared[] = [];
  for (const failure of looked) {
    prepared.push(
      failure.replays.length > 0 && !options.again
        ? { failure, problem: replayedBefore(failure) }
        : await prepareReplay(failure, options, archive, now(), deriveId),
    );
  }
  if (json)
    print(
      JSON.stringify(
        prepared.map((one) => dryRunJson(one, payload)),
        null,
        2,
      ),
    );
  else {
    print(tableText(COLUMNS, prepared));
    if (payload)
      for (const one of prepared)
        if ('body' in one) print(`\n${one.failure.envelopeId}\n${one.envelope.payload}`);
    const more = failures.length - looked.length;
    if (more > 0) print(`… and ${more} more`);
    say(
      `\nNothing was sent. --go sends ${failures.length === 1 ? 'it' : `these ${failures.length}`}${options.stages === undefined ? '' : ', one first, then ten, then the rest'}.`,
    );
  }
  return EXIT.fine;
}

const COLUMNS: readonly Column<Prepared>[] = [
  { title: 'ENVELOPE', text: ({ failure }) => failure.envelopeId, most: 40 },
  { title: 'FAILED AT', text: ({ failure }) => failure.actor },
  { title: 'TO', text: (one) => ('to' in one ? one.to : '-') },
  { title: 'DEADLINE', text: (one) => ('to' in one ? (one.envelope.status?.deadline_at ?? 'none') : '-') },
  {
    title: 'BYTES',
    text: (one) => ('body' in one ? String(Buffer.byteLength(one.body)) : '-'),
    align: 'right',
  },
  { title: '', text: (one) => ('problem' in one ? `not sent: ${one.problem}` : '') },
];

function dryRunJson(one: Prepared, payload: boolean): unknown {
  const { failure } = one;
  const id = { id: failure.envelopeId, failedAt: failure.actor };
  if ('problem' in one) return { ...id, problem: one.problem };
  const { to, envelope, body } = one;
  return {
    ...id,
    to,
    route: envelope.route,
    ...(envelope.status?.deadline_at === undefined ? {} : { deadline: envelope.status.deadline_at }),
    bytes: Buffer.byteLength(body),
    ...(payload ? { payload: JSON.parse(envelope.payload) as unknown } : {}),
  };
}
