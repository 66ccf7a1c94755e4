import type { Command } from 'commander';
import { defineCommand } from '../define-command.ts';
import { addMeshOption } from '../options/filter-options.ts';
import { UsageError } from '../usage-error.ts';

const addShow = defineCommand({
  name: 'show',
  description: 'show one run: route, attempts, times, children, error, replays and where it is stored',
  declare: (command) =>
    addMeshOption(
      command
        .argument('<id>', "the envelope's id, or a unique prefix of it")
        .option('--payload', 'print the final payload too')
        .option('--json', 'print JSON'),
    ),
  help: `Example:
  asya runs show 7f0c2b --payload`,
  load: async () => (await import('./runs/show-run.ts')).runRunsShow,
});

export const addRuns = defineCommand({
  name: 'runs',
  description: 'list envelopes that have ended, newest first: succeeded, failed and canceled',
  declare: (command) =>
    addMeshOption(
      command
        .option('--phase <phase>', 'succeeded, failed or canceled')
        .option('--flow <flow>', 'envelopes of this flow')
        .option('--actor <actor>', 'envelopes that ended at this actor')
        .option('--reason <reason>', 'envelopes with this reason, e.g. Completed or PolicyExhausted')
        .option('--id <prefix>', 'envelopes whose id starts with this text')
        .option(
          '--since <duration>',
          'ends within this period, e.g. 30m, 1h, 7d, or since a time, e.g. 2026-01-01T00:00:00Z',
        )
        .option('--limit <number>', 'the most envelopes to list, up to 10000', '20')
        .option('--json', 'print one JSON object per line')
        .allowExcessArguments()
        .hook('preAction', rejectUnknownSubcommand),
    ),
  help: `Examples:
  asya runs
  asya runs --flow hello --phase failed --since 1h
  asya runs show 7f0c2b                          one run, with its fan-out children

An envelope is listed when it has ended, for 45 days. \`asya watch ID\` follows one that has not.
Exit status: 0 ok, 1 not found or a store failed, 2 usage error.`,
  load: async () => (await import('./runs/run-runs.ts')).runRuns,
  subcommands: [addShow],
});

/** Replaces commander's "too many arguments": `asya runs ID` is an easy mistake. */
function rejectUnknownSubcommand(runs: Command, called: Command): void {
  const [unknown] = runs.args;
  if (called !== runs || unknown === undefined) return;
  throw new UsageError(
    `asya: ${JSON.stringify(unknown)} is not a subcommand of asya runs; asya runs show ID shows one envelope`,
  );
}
