import { deriveId } from '../../../adapters/system/system.ts';
import { type PreparedReplay, prepareReplay } from '../../../app/replay/prepare-replay.ts';
import { checkReplayTargets, type ReplayOptions } from '../../../app/replay/replay.ts';
import { replayedBefore } from '../../../app/replay/replay-one.ts';
import type { Failure } from '../../../core/failure/failure.ts';
import { EXIT } from '../../exit-status.ts';
import type { Operator } from '../../operator.ts';
import { MAX_ID } from '../../output/failure-output.ts';
import { escaped, jsonListOutput, jsonOutput, oneLine } from '../../output/plain-text.ts';
import { type Column, tableText } from '../../output/table.ts';
import type { Terminal } from '../../output/terminal.ts';
import { unreachableJson, unreachableLines } from './replay-text.ts';

interface DryRun {
  readonly payload?: boolean;
  readonly json?: boolean;
}

/** The rest is only counted. */
const MAX_ROWS = 20;

/** Prints what would be sent, to which actor and with which deadline, without sending it. */
export async function printDryRun(
  failures: readonly Failure[],
  options: ReplayOptions,
  { payload = false, json = false }: DryRun,
  { stores, checkQueue }: Operator,
  { print, printError, now }: Terminal,
): Promise<number> {
  const targets = await checkReplayTargets(failures, options, checkQueue);
  if (!targets.ok) {
    printError(`asya: ${oneLine(targets.problem)}`);
    return EXIT.failed;
  }
  const { unreachable } = targets;
  const status = unreachable.size > 0 ? EXIT.failed : EXIT.ok;
  const listed = json ? failures : failures.slice(0, MAX_ROWS);
  const prepared: PreparedReplay[] = [];
  for (const failure of listed) {
    const problem = unreachable.get(failure) ?? againProblem(failure, options);
    const one: PreparedReplay =
      problem === undefined
        ? await prepareReplay(failure, options, stores.archive, now(), deriveId)
        : { failure, ...problem };
    if ('problem' in one && one.isStoreDown) {
      printError(`asya: ${oneLine(one.problem)}`);
      return EXIT.failed;
    }
    prepared.push(one);
  }
  if (json) {
    print(jsonListOutput(prepared.map((one) => dryRunJson(one, payload))));
    return status;
  }
  print(tableText(COLUMNS, prepared));
  if (payload) for (const one of prepared) if ('body' in one) print(payloadText(one));
  const unlisted = failures.slice(listed.length);
  if (unlisted.length > 0) print(`… and ${unlisted.length} more`);
  const toSend =
    prepared.filter((one) => 'body' in one).length +
    unlisted.filter((failure) => !unreachable.has(failure) && againProblem(failure, options) === undefined)
      .length;
  const lines = unreachableLines([...unreachable.values()]);
  printError(['', ...lines, `Nothing was sent. ${goText(toSend, options.stages !== undefined)}`].join('\n'));
  return status;
}

function againProblem(failure: Failure, { again }: ReplayOptions): { readonly problem: string } | undefined {
  const before = again ? undefined : replayedBefore(failure);
  return before === undefined ? undefined : { problem: `${before}; --again sends it again` };
}

function goText(count: number, isRamp: boolean): string {
  if (count === 0) return '--go would send nothing either.';
  if (count === 1) return '--go sends 1.';
  return `--go sends ${count}${isRamp ? ': one first, then ten, then a hundred at a time, as long as none fails again' : ''}.`;
}

const COLUMNS: readonly Column<PreparedReplay>[] = [
  { title: 'ENVELOPE', text: ({ failure }) => failure.envelopeId, most: MAX_ID },
  { title: 'FAILED AT', text: ({ failure }) => failure.actor, most: 63 },
  { title: 'TO', text: (one) => ('to' in one ? one.to : '-') },
  { title: 'DEADLINE', text: (one) => ('to' in one ? (one.envelope.status?.deadline_at ?? 'none') : '-') },
  {
    title: 'BYTES',
    text: (one) => ('body' in one ? String(Buffer.byteLength(one.body)) : '-'),
    align: 'right',
  },
  { title: '', text: (one) => ('problem' in one ? `not sent: ${one.problem}` : '') },
];

function payloadText({ failure, envelope }: Extract<PreparedReplay, { body: string }>): string {
  return `\n${oneLine(failure.envelopeId)}\n${escaped(envelope.payload)}`;
}

function dryRunJson(one: PreparedReplay, payload: boolean): string {
  const { failure } = one;
  const id = { id: failure.envelopeId, failedAt: failure.actor };
  if ('problem' in one) {
    return jsonOutput({ ...id, problem: one.problem, ...unreachableJson(one) });
  }
  const { to, envelope, body } = one;
  return jsonOutput(
    {
      ...id,
      to,
      route: envelope.route,
      ...(envelope.status?.deadline_at !== undefined && { deadline: envelope.status.deadline_at }),
      bytes: Buffer.byteLength(body),
    },
    payload ? envelope.payload : undefined,
  );
}
