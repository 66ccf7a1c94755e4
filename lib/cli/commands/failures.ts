import type { Command } from 'commander';
import { defineCommand } from '../define-command.ts';
import { addFilterOptions, addMeshOption, addStateOptions } from '../options/filter-options.ts';
import { UsageError } from '../usage-error.ts';

const addList = defineCommand({
  name: 'list',
  description: 'list open failures, newest first, each with its group',
  declare: (command) =>
    addStateOptions(addFilterOptions(command)).option('--json', 'print one JSON object per line'),
  help: `Example:
  asya failures list --actor score --reason PolicyExhausted --since 1h --json`,
  load: async () => (await import('./failures/run-failures.ts')).runFailuresList,
});

const addShow = defineCommand({
  name: 'show',
  description: 'show one failed envelope: route, times, deciding policy, error and replays',
  declare: (command) =>
    addMeshOption(
      command
        .argument('<id>', "the envelope's id, or a unique prefix of it")
        .option('--payload', 'print the payload too')
        .option('--json', 'print JSON'),
    ),
  help: `Example:
  asya failures show 7f0c2b --payload`,
  load: async () => (await import('./failures/run-failures.ts')).runFailuresShow,
});

export const addFailures = defineCommand({
  name: 'failures',
  description: 'list open failures grouped by cause, newest first',
  declare: (command) =>
    addStateOptions(addFilterOptions(command))
      .option('--json', 'print JSON')
      .allowExcessArguments()
      .hook('preAction', rejectUnknownSubcommand),
  help: `Examples:
  asya failures                                  groups with open failures, newest first
  asya failures --all                            also groups whose failures are resolved
  asya failures list --group 3fa9c1d2e4b5        the envelopes of one group
  asya failures show 7f0c2b                      one envelope: where and why it failed

Reads the mesh that runs on this machine, or the one that ASYA_FAILURE_TABLE and ASYA_ARCHIVE_BUCKET name.
Exit status: 0 ok, 1 not found or a store failed, 2 usage error.`,
  load: async () => (await import('./failures/run-failures.ts')).runFailures,
  subcommands: [addList, addShow],
});

/** Replaces commander's "too many arguments": `asya failures ID` is an easy mistake. */
function rejectUnknownSubcommand(failures: Command, called: Command): void {
  const [unknown] = failures.args;
  if (called !== failures || unknown === undefined) return;
  throw new UsageError(
    `asya: ${JSON.stringify(unknown)} is not a subcommand of asya failures; use list or show: asya failures show ID shows one envelope`,
  );
}
